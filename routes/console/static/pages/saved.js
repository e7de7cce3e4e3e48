// One's own list of servers, in one's own order.
import { useState } from "preact/hooks";
import { publicServers as api } from "../api.js";
import { html } from "../html.js";
import { useAction, useRead } from "../store.js";
import { Handle, useDragging } from "../ui/drag.js";
import { Field, Form, Submit } from "../ui/form.js";
import { ofRow } from "../ui/row.js";
import { Complaint, Empty, State } from "../ui/states.js";
import { toast } from "../ui/toast.js";
import { say } from "../words.js";

export default function Saved() {
  const list = useRead((signal) => api.saved(signal));
  const act = useAction(async (choose) => {
    await choose();
    await list.reload();
  });
  const drop = (server, ids) => act.run(async () => {
    await api.drop(server.id);
    toast(say("saved.dropped", { name: server.displayName }), { undo: () => act.run(() => restore(server, ids)) });
  });
  return html`<div class="page"><h1 tabindex="-1">${say("saved.title")}</h1><${Complaint} error=${act.error} />
    <${State} of=${list}>${(saved) => saved.items.length === 0 ? html`<${Empty} action=${html`<a class="button" href="/app/discover">${say("discover.title")}</a>`}>${say("saved.none")}<//>`
      : html`<${Rows} saved=${saved} arranged=${list.change} act=${act} drop=${drop} />`}<//><${ByAddress} saved=${list.reload} /></div>`;
}

// What was dropped comes back to where it was, as it was. A server that nobody else keeps, and nobody has published, was gone.
async function restore(server, ids) {
  const { id } = await api.save(server.id).catch((error) => {
    if (error.status !== 404) throw error;
    return api.saveAddress(server.address);
  });
  const { serverIds } = await api.saved();
  const before = ids.map((one) => (one === server.id ? id : one)).filter((one) => serverIds.includes(one));
  await api.order([...before, ...serverIds.filter((one) => !before.includes(one))]);
  if (server.favorite) await api.favor(id, true);
}

function Rows({ saved: { items, serverIds }, arranged, act, drop }) {
  const arrange = useAction(async (ids) => arranged(await api.order(ids)));
  // It stands where it was put while the service is asked, and goes back where that is refused.
  const [asked, ask] = useState(null);
  const put = async (ids) => {
    ask(ids);
    await arrange.run(ids);
    ask(null);
  };
  const dragging = useDragging(asked ?? serverIds, put);
  const rows = dragging.order.map((id) => items.find((server) => server.id === id)).filter(Boolean);
  const move = (at, by) => {
    const next = [...dragging.order];
    [next[at], next[at + by]] = [next[at + by], next[at]];
    put(next);
  };
  return html`<${Complaint} error=${arrange.error} /><ol class="cards" ref=${dragging.list}>${rows.map((server, at) => html`<li key=${server.id} class=${dragging.dragged === server.id ? "dragged" : ""}>
    ${rows.length > 1 && html`<${Handle} of=${arrange.isRunning ? { begin() {} } : dragging} id=${server.id} />`}
    <button type="button" aria-pressed=${server.favorite} aria-label=${say("friends.favorite", { name: server.displayName })} onClick=${() => act.run(() => api.favor(server.id, !server.favorite))}>${server.favorite ? "★" : "☆"}</button>
    <div class="grow"><bdi>${server.displayName}</bdi> <code>${server.address}</code></div>
    <div class="buttons"><button type="button" disabled=${at === 0 || arrange.isRunning} aria-label=${say("saved.up", { name: server.displayName })} onClick=${() => move(at, -1)}>↑</button>
    <button type="button" disabled=${at === rows.length - 1 || arrange.isRunning} aria-label=${say("saved.down", { name: server.displayName })} onClick=${() => move(at, 1)}>↓</button>
    <button type="button" onClick=${() => drop(server, serverIds)} ...${ofRow("saved.drop", server.displayName)} /></div></li>`)}</ol>`;
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
