// Where voice is carried, and how full that is.
import { voice as api } from "../../api.js";
import { html } from "../../html.js";
import { useList, useRead } from "../../store.js";
import { Empty, More, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { number, say } from "../../words.js";

const TONES = { online: "good", draining: "warn", offline: "bad" };

export default function Voice() {
  const regions = useRead((signal) => api.regions(signal));
  const nodes = useList((query, signal) => api.nodes({ limit: 50, ...query }, signal));
  return html`<div class="page"><h1 tabindex="-1">${say("voice.title")}</h1>
    <section aria-labelledby="voice-regions"><h2 id="voice-regions">${say("voice.regions")}</h2>
      <${State} of=${regions}>${({ items }) => (items.length === 0 ? html`<${Empty}>${say("voice.noRegions")}<//>` : html`<ul class="cards">${items.map((region) => html`<li key=${region.region}><div class="grow"><p><bdi>${region.displayName}</bdi> <code>${region.region}</code></p>
        <meter min="0" max=${region.capacity || 1} value=${region.participants} aria-label=${say("gateways.load")}></meter><p class="dim">${say("voice.nodesOf", { count: region.nodes })} · ${say("voice.talking", { count: region.participants, all: number(region.capacity) })}</p></div>
        <span class=${`chip ${region.healthy ? "good" : "bad"}`}>${say(region.healthy ? "voice.healthy" : "voice.unhealthy")}</span></li>`)}</ul>`)}<//></section>
    <section aria-labelledby="voice-nodes"><h2 id="voice-nodes">${say("voice.nodes")}</h2>
      <${State} of=${nodes}>${() => (nodes.items.length === 0 ? html`<${Empty}>${say("voice.noNodes")}<//>` : html`<ul class="cards">${nodes.items.map((node) => html`<li key=${node.nodeId}><div class="grow"><p><code>${node.publicUrl}</code> ${node.region} · ${node.protocol}</p>
          <p class="dim">${say("voice.talking", { count: node.participants, all: number(node.capacity) })} · ${say("server.seen")} <${When} at=${node.lastHeartbeatAt} /></p></div><span class=${`chip ${TONES[node.status]}`}>${say(`gateways.status.${node.status}`)}</span></li>`)}</ul>
        <${More} of=${nodes} />`)}<//></section></div>`;
}
