// Notifications: the newest live, older ones page by page.
import { useEffect, useState } from "preact/hooks";
import { notifications as api } from "../api.js";
import { html } from "../html.js";
import { useShared } from "../live.js";
import { useAction, useList } from "../store.js";
import { Answer, useOffers } from "../ui/offers.js";
import { Complaint, Empty, Fault, Loading, More } from "../ui/states.js";
import { When } from "../ui/when.js";
import { day, knows, say, sayAround } from "../words.js";

const SHOWN = 50; // as many as the channel has, if there are

export default function Notifications() {
  const { data, error } = useShared("notifications");
  const [isOlder, showOlder] = useState(false);
  const read = useAction((ids) => api.read(ids));
  const unread = data?.items.filter((one) => one.readAt === null).map((one) => one.id) ?? [];
  return html`<div class="page"><header class="row"><h1 tabindex="-1">${say("notifications.title")}</h1>
      ${unread.length > 0 && html`<button type="button" disabled=${read.isRunning} onClick=${() => read.run(unread)}>${say("notifications.readAll")}</button>`}</header>
    <${Complaint} error=${read.error} />
    ${error && html`<${Fault} error=${error} />`}
    ${data === null ? !error && html`<${Loading} />`
      : data.items.length === 0 ? html`<${Empty}>${say("notifications.none")}<//>` : html`<${Days} items=${data.items} />
        ${isOlder ? html`<${Older} shown=${new Set(data.items.map((one) => one.id))} />` : data.items.length >= SHOWN && html`<button type="button" onClick=${() => showOlder(true)}>${say("notifications.older")}</button>`}`}
  </div>`;
}

function Days({ items }) {
  const open = useOffers();
  const offers = Object.fromEntries((open.data?.items ?? []).map((offer) => [offer.id, offer]));
  const days = Map.groupBy ? Map.groupBy(items, (one) => day(one.createdAt)) : grouped(items);
  return [...days].map(([name, ofDay]) => html`<section key=${name} aria-label=${name}><h2>${name}</h2>
    <ul class="cards">${ofDay.map((one) => html`<li key=${one.id} class=${one.readAt === null ? "unread" : ""}>
      <div class="grow"><p id=${`about-${one.id}`}>${textOf(one)}</p><p class="dim"><${When} at=${one.createdAt} /></p></div>
      ${offers[one.data?.inviteId] && html`<${Answer} offer=${offers[one.data.inviteId]} answered=${open.reload} />`}
      ${linkOf(one) && html`<a class="button" href=${linkOf(one)} aria-describedby=${`about-${one.id}`}>${say("notifications.open")}</a>`}</li>`)}</ul></section>`);
}

function grouped(items) {
  const days = new Map();
  for (const one of items) days.set(day(one.createdAt), [...(days.get(day(one.createdAt)) ?? []), one]);
  return days;
}

function textOf({ kind, data }) {
  const key = `notifications.kind.${kind}`;
  const isolated = (text) => html`<bdi>${text}</bdi>`;
  return knows(key) ? sayAround(key, { name: isolated(data?.name ?? data?.serverName ?? ""), title: isolated(data?.title ?? data?.name ?? "") }) : kind;
}

// {beginning of a kind: the page that it is about}
const ABOUT = [["friend", "/app/friends"], ["party", "/app/party"], ["server", "/app/servers"], ["cape", "/app/capes"], ["news", "/app/news"], ["sign_in", "/app/profile"]];
const linkOf = ({ kind }) => ABOUT.find(([beginning]) => kind.startsWith(beginning))?.[1] ?? null;

function Older({ shown }) {
  const list = useList((query, signal) => api.list({ limit: 50, ...query }, signal));
  useEffect(() => { if (list.data) list.more(); }, [list.data === null]);
  if (list.items === null) return list.error ? html`<${Fault} error=${list.error} retry=${list.reload} />` : html`<${Loading} />`;
  return html`<${Days} items=${list.items.filter((one) => !shown.has(one.id))} />
    <${More} of=${list} />`;
}
