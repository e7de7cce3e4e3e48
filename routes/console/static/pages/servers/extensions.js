// The extensions that a game server has registered, with what they can do.
import { useState } from "preact/hooks";
import { extensions as catalog, servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { ofRow } from "../../ui/row.js";
import { Empty, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { isolated, say } from "../../words.js";

/** @param {{server: any}} props */
export function Extensions({ server }) {
  const list = useRead((signal) => api.extensions(server.serverId, signal), [server.serverId]);
  return html`<section aria-label=${say("server.extensions")}>
    <${State} of=${list}>${({ items }) => html`${items.length === 0 ? html`<${Empty}>${say("extensions.noneRegistered")}<//>`
      : html`<ul class="cards">${items.map((extension) => html`<${Registered} key=${extension.extensionId} server=${server} extension=${extension} />`)}</ul>`}
      <${Register} server=${server} known=${items.map((one) => one.extensionId)} registered=${list.reload} />`}<//></section>`;
}

function Registered({ server, extension }) {
  return html`<li><div class="grow"><p><bdi>${extension.name}</bdi> <code>${extension.extensionId}</code></p>
    <p class="dim" dir="auto">${extension.description}</p>
    <p class="dim">${say("extensions.version", { number: extension.version })} · ${say("server.seen")} <${When} at=${extension.lastSeenAt} /></p>
    ${extension.actions.length > 0 && html`<details><summary>${say("extensions.actions", { count: extension.actions.length })}</summary><ul class="plain">${extension.actions.map((action) => html`<li key=${action.id}><code>${action.id}</code> <bdi>${action.label}</bdi> <span class="dim" dir="auto">${action.description}</span></li>`)}</ul></details>`}</div>
    <a class="button" href=${`/app/servers/${server.serverId}/settings?source=${encodeURIComponent(extension.extensionId)}`} ...${ofRow("server.settings", extension.name)} /></li>`;
}

function Register({ server, known, registered }) {
  const offered = useRead((signal) => catalog.all(signal));
  const [chosen, choose] = useState("");
  const register = useAction(async () => {
    await api.register(server.serverId, chosen);
    toast(say("extensions.registered"));
    choose("");
    await registered();
  });
  return html`<${State} of=${offered}>${({ items }) => {
    const others = items.filter((one) => !known.includes(one.extensionId));
    return others.length > 0 && html`<${Form} action=${register} label=${say("extensions.register")} onSubmit=${() => register.run()}><div class="row">
      <${Field} kind="select" label=${say("extensions.register")} hint=${say("extensions.registerHint")} value=${chosen} onInput=${choose} options=${[["", "–"], ...others.map((one) => [one.extensionId, `${isolated(one.name)} (${one.extensionId})`])]} />
      <${Submit} action=${register} disabled=${!chosen || register.isRunning}>${say("extensions.add")}<//></div><//>`;
  }}<//>`;
}
