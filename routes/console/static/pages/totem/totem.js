// The totem that one carries: one's own uploads, everybody's gallery, and a look at each from all sides.
import { totems as api } from "../../api.js";
import { html } from "../../html.js";
import { place, setQuery } from "../../router.js";
import { byOffset, useAction, useList, useRead } from "../../store.js";
import { Field } from "../../ui/form.js";
import { ofRow } from "../../ui/row.js";
import { Complaint, Empty, More, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";
import { Look } from "./look.js";
import { Upload } from "./upload.js";

const SORTS = ["selected", "created", "last_used", "name"];

export default function Totem() {
  const { look, sort = "selected" } = place.value.query;
  const carried = useRead((signal) => api.carried(signal));
  const mine = useList(byOffset((query, signal) => api.history(query, signal), 20));
  const gallery = useList(byOffset((query, signal) => api.gallery({ sort, ...query }, signal), 60), [sort]);
  const carry = useAction(async (totem) => {
    carried.change(await api.carry(totem.itemModelId));
    toast(say("totem.carries", { name: nameOf(totem) }));
  });
  const shelf = (list) => html`<${Shelf} list=${list} carried=${carried.data?.itemModelId} carry=${carry} />`;
  const made = async (totem) => {
    carried.change(totem);
    await Promise.all([mine.reload(), gallery.reload()]);
  };
  return html`<div class="page"><h1 tabindex="-1">${say("totem.title")}</h1>
    <section aria-labelledby="totem-carried"><h2 id="totem-carried">${say("totem.carried")}</h2>
      <${State} of=${carried}>${(totem) => (totem.itemModelId ? html`<p>${describe(totem)}</p>` : html`<${Empty}>${say("totem.nothing")}<//>`)}<//>
      ${(look ?? carried.data?.itemModelId) && html`<${Look} key=${look ?? carried.data.itemModelId} id=${look ?? carried.data.itemModelId} isChosen=${look !== undefined} />`}</section>
    <${Upload} made=${made} />
    <${Complaint} error=${carry.error} />
    <section aria-labelledby="totem-mine"><h2 id="totem-mine">${say("totem.mine")}</h2>
      <${State} of=${mine}>${() => (mine.items.length === 0 ? html`<${Empty}>${say("totem.noneMine")}<//>` : shelf(mine))}<//></section>
    <section aria-labelledby="totem-gallery"><h2 id="totem-gallery">${say("totem.gallery")}</h2>
      <${Field} kind="select" label=${say("totem.sort")} value=${sort} onInput=${(value) => setQuery({ sort: value })} options=${SORTS.map((one) => [one, say(`totem.sort.${one}`)])} />
      <${State} of=${gallery}>${() => (gallery.items.length === 0 ? html`<${Empty}>${say("totem.noneThere")}<//>` : shelf(gallery))}<//></section></div>`;
}

const nameOf = (totem) => totem.fileName || say("totem.unnamed");

function describe(totem) {
  return html`<bdi>${nameOf(totem)}</bdi> · ${say("totem.by")} <bdi>${totem.author.name}</bdi>`;
}

function Shelf({ list, carried, carry }) {
  return html`<ul class="cards">${list.items.map((totem) => html`<li key=${totem.itemModelId}><div class="grow"><p>${describe(totem)} ${totem.rating.content !== "sfw" && html`<span class="chip warn">${say("totem.rated", { content: totem.rating.content, age: totem.rating.age })}</span>`}</p>
      <p class="dim">${say("totem.carriers", { count: totem.selectedCount })} · <${When} at=${totem.createdAt} /></p></div>
      <button type="button" aria-label=${say("totem.lookAt", { name: nameOf(totem) })} onClick=${() => setQuery({ look: totem.itemModelId })}>${say("totem.look")}</button>
      <button type="button" aria-pressed=${totem.itemModelId === carried} disabled=${carry.isRunning || totem.itemModelId === carried} onClick=${() => carry.run(totem)} ...${ofRow(totem.itemModelId === carried ? "totem.isCarried" : "totem.carry", nameOf(totem))} /></li>`)}</ul>
    <${More} of=${list} />`;
}
