// The public list of servers, searched by text, tag and category.
import { useEffect } from "preact/hooks";
import { publicServers as api } from "../api.js";
import { html } from "../html.js";
import { place, setQuery } from "../router.js";
import { useAction, useList, useRead } from "../store.js";
import { ofRow } from "../ui/row.js";
import { Search } from "../ui/search.js";
import { Complaint, Empty, More, State } from "../ui/states.js";
import { say } from "../words.js";

const SHOWN = 30;
const LOOKS_EVERY_MS = 15_000; // who plays now changes all the time; whoever has gone on to older ones keeps their place

export default function Discover() {
  const { query = "", tag = "", category = "" } = place.value.query;
  const list = useList((more, signal) => api.list({ query: query || null, tag: tag || null, category: category || null, limit: SHOWN, ...more }, signal), [query, tag, category]);
  const saved = useRead((signal) => api.saved(signal));
  const isFirstPage = list.items !== null && list.items.length <= SHOWN;
  useEffect(() => {
    const timer = setInterval(() => { if (isFirstPage && !document.hidden) list.reload(); }, LOOKS_EVERY_MS);
    return () => clearInterval(timer);
  }, [isFirstPage, list.reload]);
  return html`<div class="page"><h1 tabindex="-1">${say("discover.title")}</h1>
    <search class="row"><${Search} label=${say("discover.search")} />
      ${[["tag", tag], ["category", category]].map(([name, value]) => value && html`<button type="button" onClick=${() => setQuery({ [name]: null })}><bdi>${value}</bdi> ×</button>`)}</search>
    <${State} of=${list}>${() => list.items.length === 0 ? html`<${Empty}>${say("discover.none")}<//>` : html`<ul class="cards">
      ${list.items.map((server) => html`<${Server} key=${server.id} server=${server} isSaved=${saved.data?.serverIds.includes(server.id)} changed=${saved.reload} />`)}</ul>
      <${More} of=${list} />`}<//></div>`;
}

function Server({ server, isSaved, changed }) {
  const toggle = useAction(async () => {
    await (isSaved ? api.drop(server.id) : api.save(server.id));
    await changed();
  });
  return html`<li><div class="grow"><p><bdi>${server.displayName}</bdi> <code>${server.address}</code></p>
      <p class="dim" dir="auto">${server.motdOverride ?? server.motd}</p>
      <p>${server.category && html`<button type="button" class="link" onClick=${() => setQuery({ category: server.category })}><bdi>${server.category}</bdi></button>`}
        ${server.tags.map((tag) => html`<button key=${tag} type="button" class="link" onClick=${() => setQuery({ tag })}><bdi>#${tag}</bdi></button>`)}</p><${Complaint} error=${toggle.error} /></div>
    <span class=${`chip ${server.online ? "good" : "plain"}`}>${server.online ? say("discover.playing", { count: server.playerCount }) : say("server.offline")}</span>
    <button type="button" aria-pressed=${Boolean(isSaved)} disabled=${toggle.isRunning} onClick=${() => toggle.run()} ...${ofRow(isSaved ? "discover.saved" : "discover.save", server.displayName)} /></li>`;
}
