// Networks: servers that belong together, their public page, their domains, and tokens that bring hosts in.
import { useState } from "preact/hooks";
import { networks as api } from "../api.js";
import { html } from "../html.js";
import { useAction, useRead } from "../store.js";
import { Id } from "../ui/chip.js";
import { showSecret } from "../ui/dialog.js";
import { Field, Form, Submit } from "../ui/form.js";
import { SaveBar } from "../ui/savebar.js";
import { Complaint, Empty, State } from "../ui/states.js";
import { toast } from "../ui/toast.js";
import { duration, say } from "../words.js";

/** @param {{id?: string}} props of the open network. */
export default function Networks({ id }) {
  const list = useRead((signal) => api.list(signal));
  const [name, setName] = useState("");
  const create = useAction(async () => {
    await api.create(name.trim());
    setName("");
    await list.reload();
  });
  return html`<div class="page"><h1 tabindex="-1">${say("networks.title")}</h1>
    <${State} of=${list}>${({ items }) => {
      const open = items.find((one) => one.networkId === id);
      return open ? html`<${Network} key=${id} network=${open} changed=${list.reload} />` : html`
        ${items.length === 0 ? html`<${Empty}>${say("networks.none")}<//>` : html`<ul class="cards">${items.map((network) => html`<li key=${network.networkId}><div class="grow"><a href=${`/app/networks/${network.networkId}`}><bdi>${network.name}</bdi></a>
          <p class="dim">${network.slug ?? ""}</p></div></li>`)}</ul>`}
        <${Form} action=${create} label=${say("networks.create")} onSubmit=${() => create.run()}><div class="row">
          <${Field} label=${say("networks.name")} value=${name} onInput=${setName} error=${create.error} pointer="/name" maxlength="100" /><${Submit} action=${create}>${say("networks.create")}<//></div><//>`;
    }}<//></div>`;
}

function Network({ network, changed }) {
  const before = { name: network.name, slug: network.slug ?? "", publicSummary: network.publicSummary ?? "" };
  const [fields, setFields] = useState(before);
  const set = (name) => (value) => setFields({ ...fields, [name]: value });
  const save = useAction(async () => {
    await api.change(network.networkId, { name: fields.name, slug: fields.slug.trim() || null, publicSummary: fields.publicSummary.trim() || null });
    toast(say("savebar.saved"));
    await changed();
  });
  return html`<section aria-label=${network.name} class="form"><p><a href="/app/networks">${say("networks.all")}</a> · <${Id} id=${network.networkId} what=${say("networks.id")} /></p>
    <${Field} label=${say("networks.name")} value=${fields.name} onInput=${set("name")} error=${save.error} pointer="/name" maxlength="100" />
    <${Field} label=${say("networks.slug")} hint=${say("networks.slugHint")} value=${fields.slug} onInput=${set("slug")} error=${save.error} pointer="/slug" maxlength="64" spellcheck="false" />
    <${Field} kind="area" label=${say("networks.summary")} value=${fields.publicSummary} onInput=${set("publicSummary")} error=${save.error} pointer="/publicSummary" maxlength="500" />
    <${SaveBar} isChanged=${JSON.stringify(fields) !== JSON.stringify(before)} action=${save} onSave=${() => save.run()} onDiscard=${() => setFields(before)} /></section>
    <${Domains} network=${network} /><${Hosts} network=${network} />`;
}

function Domains({ network }) {
  const list = useRead((signal) => api.domains(network.networkId, signal), [network.networkId]);
  const [domain, setDomain] = useState("");
  const add = useAction(async () => {
    await api.addDomain(network.networkId, domain.trim());
    setDomain("");
    await list.reload();
  });
  const verify = useAction(async (one) => {
    await api.verifyDomain(network.networkId, one.id);
    await list.reload();
  });
  return html`<section aria-labelledby="network-domains"><h2 id="network-domains">${say("networks.domains")}</h2>
    <${State} of=${list}>${({ items }) => items.length > 0 && html`<ul class="cards">${items.map((one) => html`<li key=${one.id}><div class="grow"><bdi>${one.domain}</bdi>
      ${!one.verified && html`<p class="dim"><code>_svc.${one.domain}</code> TXT <code>svc-network=${one.token}</code></p>`}
      ${one.verificationErrors.length > 0 && html`<p class="bad">${one.verificationErrors.join(" ")}</p>`}</div>
      <span class=${`chip ${one.verified ? "good" : "warn"}`}>${say(one.verified ? "networks.verified" : "networks.unverified")}</span>
      ${!one.verified && html`<button type="button" disabled=${verify.isRunning} onClick=${() => verify.run(one)}>${say("claim.check")}</button>`}</li>`)}</ul>`}<//>
    <${Complaint} error=${verify.error} />
    <${Form} action=${add} label=${say("networks.addDomain")} onSubmit=${() => add.run()}><div class="row"><${Field} label=${say("claim.domain")} value=${domain} onInput=${setDomain} error=${add.error} pointer="/domain" spellcheck="false" maxlength="253" />
      <${Submit} action=${add}>${say("networks.addDomain")}<//></div><//></section>`;
}

function Hosts({ network }) {
  const issue = useAction(async () => {
    const { joinToken, expiresIn } = await api.joinToken(network.networkId);
    await showSecret({ title: say("networks.joinToken"), text: say("networks.joinTokenText", { time: duration(expiresIn * 1000) }), secret: joinToken });
  });
  return html`<section aria-labelledby="network-hosts"><h2 id="network-hosts">${say("networks.hosts")}</h2><p>${say("networks.hostsText")}</p>
    <button type="button" disabled=${issue.isRunning} onClick=${() => issue.run()}>${say("networks.joinToken")}</button><${Complaint} error=${issue.error} /></section>`;
}
