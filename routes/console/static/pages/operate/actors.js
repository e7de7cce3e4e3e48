// Every live actor: totals, the ones worth a look, and one closely.
import { useEffect, useMemo, useState } from "preact/hooks";
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { serverNowMs, useChannel } from "../../live.js";
import { place, setQuery } from "../../router.js";
import { useRead } from "../../store.js";
import { duration } from "../../ui/amounts.js";
import { Field } from "../../ui/form.js";
import { Search } from "../../ui/search.js";
import { Empty, State } from "../../ui/states.js";
import { Table } from "../../ui/table.js";
import { When } from "../../ui/when.js";
import { number, say } from "../../words.js";

const MOST = 1_000;

// {column and whether the most is first: the order of the service, which sees all actors and not only those that are shown}
const ORDERS = { "lastError 1": "trouble", "mailbox 1": "mailbox", "subscribers 1": "subscribers", "restarts 1": "restarts", "idleMs 1": "idle", "idleMs 0": "busy", "kind 0": "kind" };
const NAMES = ["kind", "id"]; // columns that begin with A

export default function Actors() {
  const { query = "", kind = "", by = "lastError", down = "1", actor } = place.value.query;
  const [isPaused, pause] = useState(false);
  const [changedAtMs, setChanged] = useState(serverNowMs);
  const order = ORDERS[`${by} ${down}`] ?? null;
  const read = useRead((signal) => admin.actors({ query: query || null, kind: kind || null, sort: order, limit: MOST }, signal), [query, kind, order]);
  // The channel tells when something has moved; the list is read again then, and not by a clock.
  useChannel(isPaused ? null : "actors", () => setChanged(serverNowMs()));
  useEffect(() => { if (!document.hidden && !isPaused) read.reload(); }, [changedAtMs]);
  const kinds = read.data?.kinds ?? [];
  const items = read.data?.items ?? [];
  const sorted = useMemo(() => (order ? items : ordered(items, by, down === "1")), [read.data, by, down]);
  const isPart = !order && items.length < (read.data?.matched ?? 0);
  const sort = (name) => setQuery({ by: name, down: by === name ? String(1 - down) : NAMES.includes(name) ? "0" : "1" });
  return html`<div class="page wide"><h1 tabindex="-1">${say("actors.title")}</h1>
    <div class="row"><${Search} label=${say("actors.filter")} />
      <${Field} kind="select" label=${say("actors.kind")} value=${kind} onInput=${(value) => setQuery({ kind: value })} options=${[["", say("actors.anyKind")], ...kinds.map((one) => [one.kind, `${one.kind} (${number(one.actors)})`])]} />
      <p class="dim" role="status">${say("actors.shown", { count: read.data?.matched ?? 0, all: number(read.data?.total ?? 0) })}${isPart && ` · ${say("actors.sorted", { count: items.length })}`} · <${When} at=${changedAtMs} /></p>
      <button type="button" aria-pressed=${isPaused} onClick=${() => pause(!isPaused)}>${say(isPaused ? "actors.resume" : "actors.pause")}</button></div>
    ${actor && html`<${Closely} key=${actor} actor=${actor} />`}
    <${State} of=${read}>${() => items.length === 0 ? html`<${Empty}>${say("actors.none")}<//>`
      : html`<${Table} label=${say("actors.title")} columns=${columns()} items=${sorted} keyOf=${keyOf} classOf=${(one) => (one.lastError ? "hurt" : "")}
          order=${{ by, isDown: down === "1" }} onSort=${sort} onOpen=${(one) => setQuery({ actor: keyOf(one) })} />`}<//></div>`;
}

const keyOf = (actor) => `${actor.kind}/${actor.id}`;

function ordered(items, by, isDown) {
  const compare = (one, other) => (typeof one[by] === "number" ? one[by] - other[by] : String(one[by] ?? "").localeCompare(String(other[by] ?? "")));
  return [...items].sort((one, other) => (isDown ? -1 : 1) * compare(one, other) || (one.id < other.id ? -1 : 1));
}

function columns() {
  const count = (name, label, width) => ({ name, label, width, isSorted: true, isNumber: true, cell: (actor) => number(actor[name]) });
  return [
    { name: "kind", label: say("actors.kind"), width: "8.5rem", isSorted: true },
    { name: "id", label: say("actors.id"), width: "minmax(15rem, 2fr)", isSorted: true, cell: (actor) => html`<code>${actor.id}</code>` },
    count("mailbox", say("actors.waiting"), "6.5rem"), count("subscribers", say("actors.watched"), "6.5rem"), count("restarts", say("actors.restarts"), "6rem"),
    { name: "lastError", label: say("actors.fault"), width: "minmax(8rem, 1fr)", isSorted: true, cell: (actor) => actor.lastError && html`<span class="bad" title=${actor.lastError}>${actor.lastError}</span>` },
    { name: "idleMs", label: say("actors.idle"), width: "6rem", isSorted: true, isNumber: true, cell: (actor) => duration(actor.idleMs) },
  ];
}

function Closely({ actor }) {
  const at = actor.indexOf("/");
  const read = useRead((signal) => admin.actor(actor.slice(0, at), actor.slice(at + 1), signal), [actor]);
  return html`<section class="banner" aria-label=${actor}><button type="button" class="quiet" aria-label=${say("action.dismiss")} onClick=${() => setQuery({ actor: null })}>×</button>
    <${State} of=${read}>${(one) => html`<h2><code>${actor}</code> <span class="chip plain">${say(`actors.state.${one.state}`)}</span></h2>
      ${one.lastError && html`<p class="bad">${one.lastError}</p>`}
      <dl class="facts"><dt>${say("actors.offset")}</dt><dd>${number(one.offset)} <code>${one.epoch}</code></dd>
        <dt>${say("actors.watchers")}</dt><dd>${one.watchers.length === 0 ? "–" : one.watchers.slice(0, 20).map((watcher) => html`<code key=${`${watcher.userId} ${watcher.channel}`}>${watcher.userId ?? watcher.channel}</code> `)}</dd>
        <dt>${say("actors.recent")}</dt><dd>${one.recent.length === 0 ? "–" : one.recent.slice(-10).map((event) => html`<code key=${event.offset}>${event.offset} ${event.event}</code> `)}</dd></dl>`}<//></section>`;
}
