// One game server: a page of tabs over one live channel.
import { useEffect, useState } from "preact/hooks";
import { html } from "../../html.js";
import { useChannel, useShared, useTold } from "../../live.js";
import { me } from "../../session.js";
import { PublicationForm } from "../../ui/publication-form.js";
import { Fault, Loading } from "../../ui/states.js";
import { say } from "../../words.js";
import { Commands } from "./commands.js";
import { Danger } from "./danger.js";
import { Extensions } from "./extensions.js";
import { Members } from "./members.js";
import { accessAmong } from "./matrix.js";
import { lacks, Missing } from "./missing.js";
import { Overview } from "./overview.js";
import { Settings } from "./settings.js";

const TABS = ["overview", "console", "settings", "members", "publication", "extensions", "danger"];

/** @param {{id: string, tab?: string}} props */
export default function Server({ id, tab }) {
  return html`<${OfServer} key=${id} id=${id} tab=${tab} />`;
}

function OfServer({ id, tab = "overview" }) {
  const own = useShared("servers");
  const [told, tell] = useState([]);
  const [error, setError] = useState(null);
  useChannel(error ? null : `server:${id}`, (frames) => tell(frames), { mode: "delta", onEnd: setError });
  // Whoever is taken in again sees it again.
  const isIn = own.data?.items.some((one) => one.serverId === id);
  useEffect(() => { if (isIn) setError(null); }, [isIn]);
  const shown = TABS.includes(tab) ? tab : "overview";
  const listed = own.data && (own.data.items.find((one) => one.serverId === id) ?? { serverId: id, name: id, ownerId: null, access: null });
  // Its own channel tells at once of members, where the list of one's servers takes up to two seconds.
  const access = accessAmong(useTold(told, "members"), me.value.id);
  const server = listed && access ? { ...listed, access } : listed;
  return html`<div class="page"><header><h1 tabindex="-1"><bdi>${server?.name ?? say("servers.title")}</bdi></h1></header>
    ${own.error && html`<${Fault} error=${own.error} />`}
    ${server === null ? !own.error && html`<${Loading} />` : html`
      <nav class="tabs" aria-label=${say("server.tabs")}>${TABS.map((one) => html`<a key=${one} href=${`/app/servers/${id}/${one}`} aria-current=${one === shown ? "page" : null}>${say(`server.${one}`)}</a>`)}</nav>
      ${error ? html`<${Fault} error=${error} retry=${() => setError(null)} isWhole />` : html`<${Tab} name=${shown} server=${server} told=${told} />`}`}</div>`;
}

function Tab({ name, server, told }) {
  switch (name) {
    case "console": return html`<${Commands} server=${server} told=${told} />`;
    case "settings": return html`<${Settings} server=${server} told=${told} />`;
    case "members": return html`<${Members} server=${server} told=${told} />`;
    case "publication": return html`<${Missing} server=${server} capability="server.publication.write" />${!lacks(server, "server.settings.write") && html`<${PublicationForm} target="server" id=${server.serverId} />`}`;
    case "extensions": return html`<${Extensions} server=${server} />`;
    case "danger": return html`<${Danger} server=${server} />`;
    default: return html`<${Overview} server=${server} />`;
  }
}
