// One's own list of servers, in one's own order.
import { useState } from "preact/hooks";
import { publicServers as api } from "../api.js";
import { html } from "../html.js";
import { useAction, useRead } from "../store.js";
import { Field, Form, Submit } from "../ui/form.js";
import { Complaint, Empty, State } from "../ui/states.js";
import { toast } from "../ui/toast.js";
import { say } from "../words.js";

export default function Saved() {
  const list = useRead((signal) => api.saved(signal));
  const order = useAction(async (ids) => list.change(await api.order(ids)));
  const act = useAction(async (choose) => {
    await choose();
    await list.reload();
  });
  const move = (ids, at, by) => {
    const next = [...ids];
    [next[at], next[at + by]] = [next[at + by], next[at]];
    order.run(next);
  };
  const drop = (server) => act.run(async () => {
    await api.drop(server.id);
    toast(say("saved.dropped", { name: server.displayName }), { undo: () => act.run(() => api.save(server.id)) });
  });
  return html`<div class="page"><h1 tabindex="-1">${say("saved.title")}</h1>
    <${Complaint} error=${order.error ?? act.error} />
    <${State} of=${list}>${({ items, serverIds }) => items.length === 0 ? html`<${Empty} action=${html`<a class="button" href="/app/discover">${say("discover.title")}</a>`}>${say("saved.none")}<//>`
      : html`<ol class="cards">${items.map((server, at) => html`<li key=${server.id}>
          <button type="button" aria-pressed=${server.favorite} aria-label=${say("friends.favorite", { name: server.displayName })} onClick=${() => act.run(() => api.favor(server.id, !server.favorite))}>${server.favorite ? "★" : "☆"}</button>
          <div class="grow"><bdi>${server.displayName}</bdi> <code>${server.address}</code></div>
          <button type="button" disabled=${at === 0 || order.isRunning} aria-label=${say("saved.up", { name: server.displayName })} onClick=${() => move(serverIds, at, -1)}>↑</button>
          <button type="button" disabled=${at === items.length - 1 || order.isRunning} aria-label=${say("saved.down", { name: server.displayName })} onClick=${() => move(serverIds, at, 1)}>↓</button>
          <button type="button" onClick=${() => drop(server)}>${say("saved.drop")}</button></li>`)}</ol>`}<//><${ByAddress} saved=${list.reload} /></div>`;
}

// A server that nobody has published can be kept as well.
function ByAddress({ saved }) {
  const [address, setAddress] = useState("");
  const save = useAction(async () => {
    await api.saveAddress(address.trim());
    setAddress("");
    await saved();
  });
  return html`<${Form} action=${save} label=${say("saved.add")} onSubmit=${() => save.run()}><div class="row">
    <${Field} label=${say("publication.address")} value=${address} onInput=${setAddress} error=${save.error} pointer="/address" maxlength="260" spellcheck=${false} />
    <${Submit} action=${save} disabled=${!address.trim() || save.isRunning}>${say("saved.add")}<//></div><//>`;
}
