// The DNS provider in whose zone the service keeps a network's records.
import { networks as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Conflict, useEdited } from "../../ui/edited.js";
import { Field } from "../../ui/form.js";
import { SaveBar } from "../../ui/savebar.js";
import { Complaint, Empty, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say, sayOf } from "../../words.js";

/** @param {{network: any}} props */
export function Dns({ network: { networkId } }) {
  const read = useRead((signal) => api.dns(networkId, signal), [networkId]);
  return html`<section aria-labelledby="network-dns"><h2 id="network-dns">${say("dns.title")}</h2><p class="dim">${say("dns.text")}</p>
    <${State} of=${read}>${(kept) => html`<${Editor} key=${networkId} networkId=${networkId} kept=${kept} />`}<//></section>`;
}

const fieldsOf = ({ config }) => ({ zoneId: config?.zoneId ?? "", apiToken: "" });

function Editor({ networkId, kept }) {
  const { value: { config }, fields, set, hint, save, isChanged, discard, conflict, begin } = useEdited({
    kept, fieldsOf, read: () => api.dns(networkId),
    write: ({ zoneId, apiToken }, etag) => api.setDns(networkId, { zoneId: zoneId.trim(), apiToken: apiToken.trim() }, etag),
  });
  const remove = useAction(async () => {
    if (!(await ask({ title: say("dns.remove"), text: say("dns.removeText"), confirm: say("dns.remove"), isDanger: true }))) return;
    await api.removeDns(networkId);
    begin(await api.dns(networkId));
  });
  return html`${config ? html`<dl class="facts"><dt>${say("dns.zone")}</dt><dd><bdi>${config.zoneName}</bdi></dd><dt>${say("dns.token")}</dt><dd><span class=${`chip ${config.tokenStatus === "active" ? "good" : "warn"}`}>${sayOf("dns.tokenStatus", config.tokenStatus)}</span></dd>
      <dt>${say("dns.since")}</dt><dd><${When} at=${config.updatedAt} /></dd></dl>
      <div class="buttons start"><button type="button" disabled=${remove.isRunning} onClick=${() => remove.run()}>${say("dns.remove")}</button></div>` : html`<${Empty}>${say("dns.none")}<//>`}<${Complaint} error=${remove.error} />
    <div class="form"><${Conflict} of=${conflict} />
      <${Field} label=${say("dns.zoneId")} hint=${hint("zoneId")} value=${fields.zoneId} onInput=${set("zoneId")} error=${save.error} pointer="/zoneId" maxlength="32" spellcheck=${false} />
      <${Field} kind="password" label=${say("dns.apiToken")} hint=${say(conflict ? "dns.apiTokenTheirs" : "dns.apiTokenHint")} value=${fields.apiToken} onInput=${set("apiToken")} error=${save.error} pointer="/apiToken" maxlength="256" autocomplete="off" />
      <${SaveBar} isChanged=${isChanged} action=${save} onSave=${() => save.run()} onDiscard=${discard} /></div>`;
}
