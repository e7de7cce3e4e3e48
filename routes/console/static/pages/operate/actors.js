// Every live actor: which waits, which is watched, which has failed.
import { useEffect, useMemo, useState } from "preact/hooks";
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { place, setQuery } from "../../router.js";
import { useRead } from "../../store.js";
import { Empty, State } from "../../ui/states.js";
import { Table } from "../../ui/table.js";
import { When } from "../../ui/when.js";
import { duration, number, say } from "../../words.js";

const EVERY_MS = 2_000;
const NUMBERS = ["mailbox", "subscribers", "restarts", "offset", "idleMs"];

export default function Actors() {
  const { query = "", by = "mailbox", down = "1" } = place.value.query;
  const [isPaused, pause] = useState(false);
  const [atMs, setAt] = useState(Date.now());
  const read = useRead(async (signal) => {
    const answer = await admin.actors({ limit: 1000 }, signal);
    setAt(Date.now());
    return answer;
  });
  useEffect(() => {
    const timer = setInterval(() => document.hidden || isPaused || read.reload(), EVERY_MS);
    return () => clearInterval(timer);
  }, [isPaused, read.reload]);
  const shown = useMemo(() => ordered(read.data?.items ?? [], query, by, down === "1"), [read.data, query, by, down]);
  return html`<div class="page wide"><h1 tabindex="-1">${say("actors.title")}</h1>
    <div class="row"><label class="field">${say("actors.filter")}<input type="search" value=${query} onInput=${(event) => setQuery({ query: event.currentTarget.value })} /></label>
      <p class="dim" role="status">${say("actors.shown", { count: shown.length, all: number(read.data?.items.length ?? 0) })} · <${When} at=${atMs} /></p>
      <button type="button" aria-pressed=${isPaused} onClick=${() => pause(!isPaused)}>${say(isPaused ? "actors.resume" : "actors.pause")}</button></div>
    <${State} of=${read}>${({ items }) => items.length === 0 ? html`<${Empty}>${say("actors.none")}<//>`
      : html`<${Table} label=${say("actors.title")} columns=${columns()} items=${shown} keyOf=${(actor) => `${actor.kind} ${actor.id}`} classOf=${(actor) => (actor.lastError ? "hurt" : "")}
          order=${{ by, isDown: down === "1" }} onSort=${(name) => setQuery({ by: name, down: by === name && down === "1" ? "0" : "1" })} />`}<//></div>`;
}

function columns() {
  return [
    { name: "kind", label: say("actors.kind"), width: "8.5rem", isSorted: true },
    { name: "id", label: say("actors.id"), width: "minmax(15rem, 2fr)", isSorted: true, cell: (actor) => html`<code>${actor.id}</code>` },
    { name: "mailbox", label: say("actors.waiting"), width: "6.5rem", isSorted: true, isNumber: true, cell: (actor) => number(actor.mailbox) },
    { name: "subscribers", label: say("actors.watched"), width: "6.5rem", isSorted: true, isNumber: true, cell: (actor) => number(actor.subscribers) },
    { name: "restarts", label: say("actors.restarts"), width: "6rem", isSorted: true, isNumber: true, cell: (actor) => number(actor.restarts) },
    { name: "lastError", label: say("actors.fault"), width: "minmax(8rem, 1fr)", isSorted: true, cell: (actor) => actor.lastError && html`<span class="bad" title=${actor.lastError}>${actor.lastError}</span>` },
    { name: "idleMs", label: say("actors.idle"), width: "6rem", isSorted: true, isNumber: true, cell: (actor) => duration(actor.idleMs) },
  ];
}

function ordered(items, query, by, isDown) {
  const text = query.toLowerCase();
  const found = text ? items.filter((actor) => `${actor.kind} ${actor.id} ${actor.lastError ?? ""}`.toLowerCase().includes(text)) : [...items];
  const compare = NUMBERS.includes(by) ? (one, other) => one[by] - other[by] : (one, other) => String(one[by] ?? "").localeCompare(String(other[by] ?? ""));
  return found.sort((one, other) => (isDown ? -1 : 1) * compare(one, other) || (one.id < other.id ? -1 : 1));
}
