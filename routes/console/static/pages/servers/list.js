// The game servers that one may do something on, live, and those that one is invited to.
import { useState } from "preact/hooks";
import { networks as networkApi } from "../../api.js";
import { html } from "../../html.js";
import { useShared } from "../../live.js";
import { place } from "../../router.js";
import { useRead } from "../../store.js";
import { Offer, useOffers } from "../../ui/offers.js";
import { Search } from "../../ui/search.js";
import { Empty, Fault, Loading } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { number, say, sayOf } from "../../words.js";

const FEW = 20; // so many are found by looking
const DRAWN = 100;

export default function Servers() {
  const { data, error } = useShared("servers");
  const offers = useOffers();
  const networks = useRead((signal) => networkApi.list(signal));
  const nameOf = Object.fromEntries((networks.data?.items ?? []).map((network) => [network.networkId, network.name]));
  const claim = html`<a class="button primary" href="/app/servers/claim">${say("servers.claim")}</a>`;
  return html`<div class="page"><header class="row"><h1 tabindex="-1">${say("servers.title")}</h1>${claim}</header>
    ${offers.error && html`<${Fault} error=${offers.error} retry=${offers.reload} />`}
    ${offers.data?.items.length > 0 && html`<section aria-labelledby="servers-offers"><h2 id="servers-offers">${say("offers.title")}</h2><ul class="cards">${offers.data.items.map((offer) => html`<${Offer} key=${offer.id} offer=${offer} answered=${offers.reload} />`)}</ul></section>`}
    ${error ? html`<${Fault} error=${error} isWhole />` : data === null ? html`<${Loading} />`
      : data.items.length === 0 ? html`<${Empty}>${say("servers.none")}<//>`
      : html`<${Own} servers=${data.items} nameOf=${nameOf} />`}
  </div>`;
}

function Own({ servers, nameOf }) {
  const [drawn, draw] = useState(DRAWN);
  const wanted = (place.value.query.query ?? "").trim().toLowerCase();
  const found = servers.filter(({ serverId, name, serverType, networkId }) =>
    serverId === wanted || [name, serverType, nameOf[networkId] ?? ""].some((text) => text.toLowerCase().includes(wanted)));
  return html`${(servers.length > FEW || wanted) && html`<search class="row"><${Search} label=${say("servers.find")} /></search>`}
    ${found.length === 0 ? html`<${Empty}>${say("servers.notFound")}<//>`
      : html`<ul class="cards">${found.slice(0, drawn).map((server) => html`<${Server} key=${server.serverId} server=${server} network=${nameOf[server.networkId]} />`)}</ul>`}
    ${found.length > drawn && html`<button type="button" onClick=${() => draw(drawn + DRAWN)}>${say("servers.more", { count: found.length - drawn })}</button>`}`;
}

function Server({ server, network }) {
  const { status, access } = server;
  return html`<li><div class="grow"><a href=${`/app/servers/${server.serverId}`}><bdi>${server.name}</bdi></a>
      <p class="dim">${server.serverType}${network && html` · <bdi>${network}</bdi>`} · ${sayOf("members.role", access.role)}${!status.online && status.updatedAt && html` · ${say("server.seen")} <${When} at=${status.updatedAt} />`}</p></div>
    ${server.isTemplate && html`<span class="chip plain">${say("servers.template")}</span>`}
    ${server.tempInstance && html`<span class="chip plain">${say("servers.temporary")}</span>`}
    ${server.listening && html`<span class="chip plain">${say("servers.listening")}</span>`}
    <span class=${`chip ${status.online ? "good" : "plain"}`}>${status.online ? say("server.players", { count: status.playerCount, max: number(status.playerCapacity) }) : say("server.offline")}</span></li>`;
}
