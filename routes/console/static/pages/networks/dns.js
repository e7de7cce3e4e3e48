// The DNS provider in whose zone the service keeps a network's records.
import { useState } from "preact/hooks";
import { networks as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { Complaint, Empty, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { say, sayOf } from "../../words.js";

/** @param {{network: any}} props */
export function Dns({ network }) {
  const read = useRead((signal) => api.dns(network.networkId, signal), [network.networkId]);
  const remove = useAction(async () => {
    if (!(await ask({ title: say("dns.remove"), text: say("dns.removeText"), confirm: say("dns.remove"), isDanger: true }))) return;
    await api.removeDns(network.networkId);
    read.change({ config: null });
  });
  return html`<section aria-labelledby="network-dns"><h2 id="network-dns">${say("dns.title")}</h2><p class="dim">${say("dns.text")}</p>
    <${State} of=${read}>${({ config }) => html`${config ? html`<dl class="facts"><dt>${say("dns.zone")}</dt><dd><bdi>${config.zoneName}</bdi></dd><dt>${say("dns.token")}</dt><dd><span class=${`chip ${config.tokenStatus === "active" ? "good" : "warn"}`}>${sayOf("dns.tokenStatus", config.tokenStatus)}</span></dd>
        <dt>${say("dns.since")}</dt><dd><${When} at=${config.updatedAt} /></dd></dl>
        <div class="buttons start"><button type="button" disabled=${remove.isRunning} onClick=${() => remove.run()}>${say("dns.remove")}</button></div><${Complaint} error=${remove.error} />` : html`<${Empty}>${say("dns.none")}<//>`}
      <${Provider} network=${network} config=${config} saved=${(made) => read.change({ config: made })} />`}<//></section>`;
}

function Provider({ network, config, saved }) {
  const [zoneId, setZone] = useState(config?.zoneId ?? "");
  const [apiToken, setToken] = useState("");
  const save = useAction(async () => {
    saved(await api.setDns(network.networkId, { zoneId: zoneId.trim(), apiToken: apiToken.trim() }));
    setToken("");
    toast(say("savebar.saved"));
  });
  return html`<${Form} action=${save} label=${say("dns.set")} onSubmit=${() => save.run()}>
    <${Field} label=${say("dns.zoneId")} value=${zoneId} onInput=${setZone} error=${save.error} pointer="/zoneId" maxlength="32" spellcheck=${false} />
    <${Field} kind="password" label=${say("dns.apiToken")} hint=${say("dns.apiTokenHint")} value=${apiToken} onInput=${setToken} error=${save.error} pointer="/apiToken" maxlength="256" autocomplete="off" />
    <${Submit} action=${save} disabled=${!zoneId.trim() || !apiToken.trim() || save.isRunning}>${say("dns.set")}<//><//>`;
}
