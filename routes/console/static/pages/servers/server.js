// One game server: a page of tabs over one live channel.
import { useState } from "preact/hooks";
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useChannel } from "../../live.js";
import { useRead } from "../../store.js";
import { Fault, State } from "../../ui/states.js";
import { say } from "../../words.js";
import { Commands } from "./commands.js";
import { Danger } from "./danger.js";
import { Members } from "./members.js";
import { Overview } from "./overview.js";
import { PublicationForm } from "./publication.js";
import { Settings } from "./settings.js";

const TABS = ["overview", "console", "settings", "members", "publication", "danger"];

/** @param {{id: string, tab?: string}} props */
export default function Server({ id, tab = "overview" }) {
  const list = useRead((signal) => api.list(signal), [id]);
  const [told, tell] = useState([]);
  const [error, setError] = useState(null);
  useChannel(`server:${id}`, (frames) => tell(frames), { mode: "delta", onEnd: setError });
  const shown = TABS.includes(tab) ? tab : "overview";
  return html`<div class="page"><${State} of=${list}>${({ items }) => {
    const server = items.find((one) => one.serverId === id) ?? { serverId: id, name: id, ownerId: null };
    return html`<header><h1 tabindex="-1"><bdi>${server.name}</bdi></h1></header>
      <nav class="tabs" aria-label=${say("server.tabs")}>${TABS.map((one) => html`<a key=${one} href=${`/app/servers/${id}/${one}`} aria-current=${one === shown ? "page" : null}>${say(`server.${one}`)}</a>`)}</nav>
      ${error ? html`<${Fault} error=${error} isWhole />` : html`<${Tab} name=${shown} server=${server} told=${told} />`}`;
  }}<//></div>`;
}

function Tab({ name, server, told }) {
  switch (name) {
    case "console": return html`<${Commands} server=${server} told=${told} />`;
    case "settings": return html`<${Settings} server=${server} told=${told} />`;
    case "members": return html`<${Members} server=${server} told=${told} />`;
    case "publication": return html`<${PublicationForm} server=${server.serverId} />`;
    case "danger": return html`<${Danger} server=${server} />`;
    default: return html`<${Overview} server=${server} />`;
  }
}
