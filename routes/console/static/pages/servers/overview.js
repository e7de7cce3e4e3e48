// What a game server is, whether it is up, and how players reach it.
import { useEffect, useState } from "preact/hooks";
import { networks as networkApi, publications, servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { Id } from "../../ui/chip.js";
import { Field } from "../../ui/form.js";
import { Complaint, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { number, say, sayOf } from "../../words.js";
import { lacks } from "./missing.js";

/** @param {{server: any}} props */
export function Overview({ server }) {
  return html`<section aria-label=${say("server.overview")}>
    <dl class="facts">
      <dt>${say("server.id")}</dt><dd><${Id} id=${server.serverId} what=${say("server.id")} /></dd>
      <dt>${say("server.type")}</dt><dd>${server.serverType}</dd>
      ${server.access && html`<dt>${say("server.yourRole")}</dt><dd>${say(`members.role.${server.access.role}`)}</dd>`}
      <dt>${say("server.since")}</dt><dd>${server.createdAt && html`<${When} at=${server.createdAt} />`}</dd>
      <dt>${say("server.status")}</dt><dd>${server.status ? html`<${Status} status=${server.status} />` : "–"}</dd>
      <dt>${say("servers.listening")}</dt><dd>${say(server.listening ? "server.listens" : "server.listensNot")}</dd>
      ${!lacks(server, "server.settings.write") && html`<dt>${say("server.publication")}</dt><dd><${Publication} server=${server} /></dd>`}
    </dl><${NetworkChoice} server=${server} /></section><${Route} server=${server} />`;
}

function Publication({ server }) {
  const read = useRead((signal) => publications.read("server", server.serverId, signal), [server.serverId]);
  return html`<${State} of=${read}>${({ value: { publication } }) => (publication ? sayOf("listing.state", publication.discoveryState) : html`<span class="dim">${say("server.unpublished")}</span>`)}<//>`;
}

function Status({ status }) {
  return html`<span class=${`chip ${status.online ? "good" : "bad"}`}>${say(status.online ? "server.online" : "server.offline")}</span>
    ${status.online && html` ${say("server.players", { count: status.playerCount, max: number(status.playerCapacity) })}`}
    ${status.updatedAt && html` <span class="dim">${say("server.seen")} <${When} at=${status.updatedAt} /></span>`}`;
}

function NetworkChoice({ server }) {
  const list = useRead((signal) => networkApi.list(signal));
  const now = server.networkId ?? "";
  // What was chosen is shown until the channel tells of it, which may be after the answer.
  const [sent, setSent] = useState(null);
  useEffect(() => setSent(null), [now]);
  const set = async (networkId) => {
    setSent(networkId);
    try {
      await api.change(server.serverId, { networkId: networkId || null });
    } catch (error) {
      setSent(null);
      throw error;
    }
  };
  const move = useAction(async (networkId) => {
    await set(networkId);
    toast(say("savebar.saved"), { undo: () => set(now) });
  });
  const isMine = server.access?.role === "owner";
  return html`<${State} of=${list}>${({ items }) => html`<${Field} kind="select" label=${say("server.network")} hint=${isMine ? null : say("server.ownerOnly")} disabled=${!isMine} value=${sent ?? now}
      options=${[["", say("server.noNetwork")], ...items.map((one) => [one.networkId, one.name])]} onInput=${move.run} />
    <${Complaint} error=${move.error} />`}<//>`;
}

function Route({ server }) {
  const read = useRead((signal) => api.gateways(server.serverId, signal), [server.serverId]);
  return html`<section aria-labelledby="server-route"><h2 id="server-route">${say("server.route")}</h2><${State} of=${read}>${({ route, items }) => html`
    ${route ? html`<p><code>${route.routeHost}</code> → <code>${route.backendHost}:${route.backendPort}</code> <span class=${`chip ${route.status === "active" ? "good" : "warn"}`}>${sayOf("route", route.status)}</span></p>` : html`<p class="dim">${say("server.noRoute")}</p>`}
    ${items.length > 0 && html`<p class="dim">${say("server.gateways", { count: items.filter((gateway) => gateway.status === "online").length, all: number(items.length) })}</p>`}`}<//></section>`;
}
