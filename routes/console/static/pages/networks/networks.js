// Networks: servers that belong together.
import { useState } from "preact/hooks";
import { networks as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { Empty, Fault, State } from "../../ui/states.js";
import { say } from "../../words.js";
import { Network } from "./network.js";

/** @param {{id?: string, tab?: string}} props of the open network. */
export default function Networks({ id, tab }) {
  const list = useRead((signal) => api.list(signal));
  const open = list.data?.items.find((one) => one.networkId === id);
  return html`<div class="page"><h1 tabindex="-1">${open ? html`<bdi>${open.name}</bdi>` : say("networks.title")}</h1>
    <${State} of=${list}>${({ items }) => {
      if (open) return html`<${Network} key=${id} network=${open} tab=${tab} changed=${list.reload} />`;
      return id ? html`<${Fault} error=${Object.assign(new Error(say("networks.notThere")), { status: 404 })} isWhole />` : html`<${All} items=${items} changed=${list.reload} />`;
    }}<//></div>`;
}

function All({ items, changed }) {
  const [name, setName] = useState("");
  const create = useAction(async () => {
    await api.create(name.trim());
    setName("");
    await changed();
  });
  return html`${items.length === 0 ? html`<${Empty}>${say("networks.none")}<//>` : html`<ul class="cards">${items.map((network) => html`<li key=${network.networkId}><div class="grow"><a href=${`/app/networks/${network.networkId}`}><bdi>${network.name}</bdi></a>
      <p class="dim">${network.slug ?? ""}</p></div></li>`)}</ul>`}
    <${Form} action=${create} label=${say("networks.create")} onSubmit=${() => create.run()}><div class="row">
      <${Field} label=${say("networks.name")} value=${name} onInput=${setName} error=${create.error} pointer="/name" maxlength="100" /><${Submit} action=${create}>${say("networks.create")}<//></div><//>`;
}
