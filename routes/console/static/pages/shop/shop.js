// What can be bought, what one has ordered, and what one has got.
import { shop as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useList, useRead } from "../../store.js";
import { money } from "../../ui/amounts.js";
import { ask } from "../../ui/dialog.js";
import { useOnce } from "../../ui/once.js";
import { ofRow } from "../../ui/row.js";
import { Complaint, Empty, More, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

export default function Shop() {
  const catalog = useRead((signal) => api.catalog(signal));
  const purchases = useList((query, signal) => api.purchases({ limit: 30, ...query }, signal));
  const changed = () => Promise.all([catalog.reload(), purchases.reload()]);
  const nameOf = (id) => catalog.data?.items.find((product) => product.id === id)?.name ?? id;
  return html`<div class="page"><h1 tabindex="-1">${say("shop.title")}</h1>
    <${State} of=${catalog}>${({ items }) => (items.length === 0 ? html`<${Empty}>${say("shop.none")}<//>` : html`<ul class="shelf">${items.map((product) => html`<li key=${product.id}><${Product} product=${product} bought=${changed} /></li>`)}</ul>`)}<//>
    <section aria-labelledby="shop-purchases"><h2 id="shop-purchases">${say("shop.purchases")}</h2>
      <${State} of=${purchases}>${() => (purchases.items.length === 0 ? html`<${Empty}>${say("shop.nonePurchased")}<//>` : html`<ul class="cards">${purchases.items.map((one) => html`<${Purchase} key=${one.id} purchase=${one} name=${nameOf(one.productId)} changed=${changed} />`)}</ul>
        <${More} of=${purchases} />`)}<//></section></div>`;
}

function Product({ product, bought }) {
  const order = useOnce(api.checkout);
  const buy = useAction(async () => {
    const text = say("shop.orderText", { name: product.name, price: money(product.price) });
    if (!(await ask({ title: say("shop.order"), text, confirm: say("shop.order") }))) return;
    const { checkout } = await order({ items: [{ productId: product.id }] });
    if (checkout.url) location.assign(checkout.url);
    else toast(say(checkout.status === "completed" ? "shop.given" : "shop.ordered"));
    await bought();
  });
  return html`<p><strong><bdi>${product.name}</bdi></strong></p><p class="dim" dir="auto">${product.description}</p><p>${money(product.price)}</p>
    ${product.owned ? html`<span class="chip good">${say("shop.owned")}</span>` : html`<button type="button" class="primary" disabled=${buy.isRunning} onClick=${() => buy.run()} ...${ofRow("shop.order", product.name)} />`}<${Complaint} error=${buy.error} />`;
}

const TONES = { fulfilled: "good", paid: "good", pending: "warn", failed: "bad", disputed: "bad" };

function Purchase({ purchase, name, changed }) {
  const cancel = useAction(async () => {
    await api.cancel(purchase.checkoutId);
    await changed();
  });
  return html`<li><div class="grow"><p><bdi>${name}</bdi>${purchase.quantity > 1 && ` × ${purchase.quantity}`} · ${money(purchase)}</p><p class="dim"><${When} at=${purchase.createdAt} /></p><${Complaint} error=${cancel.error} /></div>
    <span class=${`chip ${TONES[purchase.status] ?? "plain"}`}>${say(`shop.status.${purchase.status}`)}</span>
    ${purchase.status === "pending" && purchase.checkoutId && html`<button type="button" disabled=${cancel.isRunning} onClick=${() => cancel.run()} ...${ofRow("shop.cancel", name)} />`}</li>`;
}
