// What a game server is, and whether it is up.
import { networks as networkApi, servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { Id } from "../../ui/chip.js";
import { Field } from "../../ui/form.js";
import { Complaint, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { number, say } from "../../words.js";

/** @param {{server: any}} props */
export function Overview({ server }) {
  const publication = useRead((signal) => api.publication(server.serverId, signal), [server.serverId]);
  return html`<section aria-label=${say("server.overview")}>
    <dl class="facts">
      <dt>${say("server.id")}</dt><dd><${Id} id=${server.serverId} what=${say("server.id")} /></dd>
      <dt>${say("server.type")}</dt><dd>${server.serverType}</dd>
      <dt>${say("server.since")}</dt><dd>${server.createdAt && html`<${When} at=${server.createdAt} />`}</dd>
      <dt>${say("server.status")}</dt><dd><${State} of=${publication}>${(found) => html`<${Status} publication=${found.publication} />`}<//></dd>
    </dl><${NetworkChoice} server=${server} /></section>`;
}

function Status({ publication }) {
  if (publication === null) return html`<span class="dim">${say("server.unpublished")}</span>`;
  return html`<span class=${`chip ${publication.online ? "good" : "bad"}`}>${say(publication.online ? "server.online" : "server.offline")}</span>
    ${publication.online && say("server.players", { count: publication.playerCount, max: number(publication.playerCapacity) })}
    ${publication.statusUpdatedAt && html` <span class="dim">${say("server.seen")} <${When} at=${publication.statusUpdatedAt} /></span>`}`;
}

function NetworkChoice({ server }) {
  const list = useRead((signal) => networkApi.list(signal));
  const move = useAction(async (networkId) => {
    await api.change(server.serverId, { networkId: networkId || null });
    toast(say("savebar.saved"));
  });
  return html`<${State} of=${list}>${({ items }) => html`<${Field} kind="select" label=${say("server.network")} value=${server.networkId ?? ""}
      options=${[["", say("server.noNetwork")], ...items.map((one) => [one.networkId, one.name])]} onInput=${move.run} />
    <${Complaint} error=${move.error} />`}<//>`;
}
