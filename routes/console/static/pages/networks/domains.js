// Domains of a network: claimed by a record in their DNS.
import { useState } from "preact/hooks";
import { networks as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { DomainRecord } from "../../ui/domain-record.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { Empty, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

/** @param {{network: any}} props */
export function Domains({ network }) {
  const list = useRead((signal) => api.domains(network.networkId, signal), [network.networkId]);
  const [domain, setDomain] = useState("");
  const [gateway, setGateway] = useState(null);
  const add = useAction(async () => {
    const made = await api.addDomain(network.networkId, domain.trim());
    setGateway(made.gateway);
    setDomain("");
    await list.reload();
  });
  const verified = async ({ domain: name }) => {
    toast(say("networks.isVerified", { name }));
    await list.reload();
  };
  return html`<section aria-labelledby="network-domains"><h2 id="network-domains">${say("networks.domains")}</h2>
    <${State} of=${list}>${({ items }) => (items.length === 0 ? html`<${Empty}>${say("networks.noDomains")}<//>` : html`<ul class="cards">${items.map((one) => html`<li key=${one.id}><div class="grow"><p><bdi>${one.domain}</bdi> <span class=${`chip ${one.verified ? "good" : "warn"}`}>${say(one.verified ? "networks.verified" : "networks.unverified")}</span></p>
      ${one.verified ? html`<p class="dim"><${When} at=${one.verifiedAt} /></p>`
        : html`<${DomainRecord} network=${network.networkId} domain=${one} txt=${{ name: `_svc.${one.domain}`, value: `svc-network=${one.token}` }} verified=${verified} />`}</div></li>`)}</ul>`)}<//>
    ${gateway?.value && html`<p class="banner" role="status">${say(gateway.autoManaged ? "networks.gatewayManaged" : "networks.gateway", { name: gateway.name, type: gateway.type, value: gateway.value })}</p>`}
    <${Form} action=${add} label=${say("networks.addDomain")} onSubmit=${() => add.run()}><div class="row"><${Field} label=${say("claim.domain")} hint=${say("claim.domainHint")} value=${domain} onInput=${setDomain} error=${add.error} pointer="/domain" spellcheck=${false} maxlength="253" />
      <${Submit} action=${add} disabled=${!domain.trim() || add.isRunning}>${say("networks.addDomain")}<//></div><//></section>`;
}
