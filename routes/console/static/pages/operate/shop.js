// The shop from behind the counter: purchases that wait, and products.
import { useState } from "preact/hooks";
import { shop as api } from "../../api.js";
import { html } from "../../html.js";
import { place, setQuery } from "../../router.js";
import { useAction, useList } from "../../store.js";
import { money } from "../../ui/amounts.js";
import { ask } from "../../ui/dialog.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { ofRow } from "../../ui/row.js";
import { Choice, ChooseAll, SelectionBar, useSelection } from "../../ui/selection.js";
import { Complaint, Empty, More, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

const STATUSES = ["", "pending", "paid", "fulfilled", "refunded", "disputed", "failed"];
const TONES = { fulfilled: "good", paid: "good", pending: "warn", failed: "bad", disputed: "bad" };

export default function ShopDesk() {
  const products = useList((query, signal) => api.products({ limit: 100, ...query }, signal));
  return html`<div class="page"><h1 tabindex="-1">${say("shopdesk.title")}</h1><${Purchases} products=${products.items ?? []} /><${Products} list=${products} /></div>`;
}

function Purchases({ products }) {
  const { status = "" } = place.value.query;
  const list = useList((query, signal) => api.allPurchases({ limit: 30, status: status || null, ...query }, signal), [status]);
  const nameOf = ({ productId }) => products.find((product) => product.id === productId)?.name ?? productId;
  const act = useAction(async (purchase, verb) => {
    const name = nameOf(purchase);
    if (!(await ask({ title: say(`shopdesk.${verb}`), text: say(`shopdesk.${verb}Text`, { name, price: money(purchase) }), confirm: say(`shopdesk.${verb}`), isDanger: verb === "refund" }))) return;
    const changed = await (verb === "refund" ? api.refund(purchase.id) : api.markPaid(purchase.id));
    list.change((before) => ({ ...before, items: before.items.map((one) => (one.id === changed.id ? changed : one)) }));
  });
  return html`<section aria-labelledby="shopdesk-purchases"><h2 id="shopdesk-purchases">${say("shop.purchases")}</h2>
    <${Field} kind="select" label=${say("server.status")} value=${status} onInput=${(value) => setQuery({ status: value })} options=${STATUSES.map((one) => [one, say(`shop.status.${one || "any"}`)])} /><${Complaint} error=${act.error} />
    <${State} of=${list}>${() => (list.items.length === 0 ? html`<${Empty}>${say("shopdesk.nonePurchased")}<//>` : html`<ul class="cards">${list.items.map((one) => html`<li key=${one.id}><div class="grow"><p><bdi>${nameOf(one)}</bdi> · ${money(one)}</p>
        <p class="dim">${one.payerId && html`<a href=${`/app/operate/users/${one.payerId}`}>${say("shopdesk.payer")}</a> · `}${one.provider} · <${When} at=${one.createdAt} />${one.hold && html` · <span class="bad">${say(`shopdesk.hold.${one.hold}`)}</span>`}</p></div>
        <span class=${`chip ${TONES[one.status] ?? "plain"}`}>${say(`shop.status.${one.status}`)}</span>
        ${canBePaid(one) && html`<button type="button" disabled=${act.isRunning} onClick=${() => act.run(one, "paid")} ...${ofRow("shopdesk.paid", nameOf(one))} />`}
        ${["paid", "fulfilled", "disputed"].includes(one.status) && one.provider === "manual" && html`<button type="button" disabled=${act.isRunning} onClick=${() => act.run(one, "refund")} ...${ofRow("shopdesk.refund", nameOf(one))} />`}</li>`)}</ul>
      <${More} of=${list} />`)}<//></section>`;
}

// What was given up may be paid after all; where nobody is left to get it, the money can only go back.
const canBePaid = ({ status, hold }) => ["pending", "failed"].includes(status) || (hold && hold !== "RECIPIENT_GONE");

function Products({ list }) {
  const act = useAction(async (product) => {
    await api.changeProduct(product.id, { revision: product.revision, available: !product.available });
    await list.reload();
  });
  const selection = useSelection(list.items ?? [], { keyOf: (product) => product.id, nameOf: (product) => product.name });
  const sell = (available) => (product, { revision } = product) => api.changeProduct(product.id, { revision, available });
  const many = [true, false].map((isOn) => ({ name: String(isOn), words: say(isOn ? "shopdesk.sell" : "shopdesk.stopSelling"), fits: (product) => product.available !== isOn, run: sell(isOn), undo: sell(!isOn) }));
  return html`<section aria-labelledby="shopdesk-products"><h2 id="shopdesk-products">${say("shopdesk.products")}</h2><${Complaint} error=${act.error} />
    <${State} of=${list}>${() => (list.items.length === 0 ? html`<${Empty}>${say("shopdesk.noneProducts")}<//>` : html`<${ChooseAll} of=${selection} /><ul class="cards">${list.items.map((product) => html`<li key=${product.id}><${Choice} of=${selection} item=${product} /><div class="grow"><p><bdi>${product.name}</bdi> <code>${product.slug}</code></p><p class="dim">${say(`shopdesk.kind.${product.kind}`)} · ${money(product.price)}</p></div>
      <button type="button" aria-pressed=${product.available} disabled=${act.isRunning} onClick=${() => act.run(product)} ...${ofRow("shopdesk.onSale", product.name)} /></li>`)}</ul><${SelectionBar} of=${selection} actions=${many} changed=${list.reload} />`)}<//>
    <${Make} made=${list.reload} /></section>`;
}

const BLANK = { slug: "", name: "", description: "", node: "", amount: "", currency: "EUR", limit: "" };

// Products that give one right; all others are made by the interface.
function Make({ made }) {
  const [fields, setFields] = useState(BLANK);
  const set = (name) => (value) => setFields({ ...fields, [name]: value });
  const create = useAction(async () => {
    const { slug, name, description, node, amount, currency, limit } = fields;
    await api.createProduct({ slug: slug.trim(), name: name.trim(), description: description.trim(), kind: "permission", price: { amount: Number(amount), currency: currency.trim() }, grants: [{ node: node.trim() }], limit: limit === "" ? null : Number(limit) });
    toast(say("savebar.saved"));
    setFields(BLANK);
    await made();
  });
  const isReady = ["slug", "name", "node", "amount", "currency"].every((name) => fields[name].trim());
  return html`<details><summary>${say("shopdesk.make")}</summary><${Form} action=${create} label=${say("shopdesk.make")} onSubmit=${() => create.run()}>
    <${Field} label=${say("shopdesk.name")} value=${fields.name} onInput=${set("name")} error=${create.error} pointer="/name" maxlength="100" />
    <${Field} label=${say("shopdesk.slug")} value=${fields.slug} onInput=${set("slug")} error=${create.error} pointer="/slug" maxlength="64" spellcheck=${false} />
    <${Field} kind="area" rows="2" label=${say("shopdesk.description")} value=${fields.description} onInput=${set("description")} error=${create.error} pointer="/description" />
    <${Field} label=${say("grants.node")} value=${fields.node} onInput=${set("node")} error=${create.error} pointer="/grants/0/node" maxlength="200" spellcheck=${false} />
    <div class="row"><${Field} kind="number" min="0" step="1" label=${say("shopdesk.amount")} value=${fields.amount} onInput=${set("amount")} error=${create.error} pointer="/price/amount" />
      <${Field} label=${say("shopdesk.currency")} value=${fields.currency} onInput=${set("currency")} error=${create.error} pointer="/price/currency" maxlength="3" /></div>
    <${Field} kind="number" min="1" max="1000" step="1" label=${say("shopdesk.limit")} hint=${say("shopdesk.limitHint")} value=${fields.limit} onInput=${set("limit")} error=${create.error} pointer="/limit" />
    <${Submit} action=${create} disabled=${!isReady || create.isRunning}>${say("shopdesk.make")}<//><//></details>`;
}
