// The game servers that one may do something on.
import { networks as networkApi, servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useRead } from "../../store.js";
import { Empty, State } from "../../ui/states.js";
import { say } from "../../words.js";

export default function Servers() {
  const list = useRead((signal) => api.list(signal));
  const networks = useRead((signal) => networkApi.list(signal));
  const nameOf = Object.fromEntries((networks.data?.items ?? []).map((network) => [network.networkId, network.name]));
  const claim = html`<a class="button primary" href="/app/servers/claim">${say("servers.claim")}</a>`;
  return html`<div class="page"><header class="row"><h1 tabindex="-1">${say("servers.title")}</h1>${claim}</header>
    <${State} of=${list}>${({ items }) => items.length === 0 ? html`<${Empty} action=${claim}>${say("servers.none")}<//>`
      : html`<ul class="cards">${items.map((server) => html`<li key=${server.serverId}>
          <div class="grow"><a href=${`/app/servers/${server.serverId}`}><bdi>${server.name}</bdi></a>
            <p class="dim">${server.serverType}${nameOf[server.networkId] && html` · <bdi>${nameOf[server.networkId]}</bdi>`}</p></div>
          ${server.isTemplate && html`<span class="chip plain">${say("servers.template")}</span>`}
          ${server.tempInstance && html`<span class="chip plain">${say("servers.temporary")}</span>`}</li>`)}</ul>`}<//>
  </div>`;
}
