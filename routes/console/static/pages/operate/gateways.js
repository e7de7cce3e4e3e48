// Gateways that carry players to game servers: how full, how well, and taking one out gently.
import { useState } from "preact/hooks";
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { place, setQuery } from "../../router.js";
import { useAction, useList } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { ofRow } from "../../ui/row.js";
import { Choice, ChooseAll, SelectionBar, useSelection } from "../../ui/selection.js";
import { Complaint, Empty, More, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { number, say } from "../../words.js";

const TONES = { online: "good", draining: "warn", offline: "bad" };
const STATUSES = ["", "online", "draining", "offline"];

export default function Gateways() {
  const { status = "" } = place.value.query;
  const list = useList((query, signal) => admin.gateways({ limit: 50, status: status || null, ...query }, signal), [status]);
  const replace = (changed) => list.change((before) => ({ ...before, items: before.items.map((one) => (one.gatewayId === changed.gatewayId ? changed : one)) }));
  const selection = useSelection(list.items ?? [], { keyOf: (one) => one.gatewayId, nameOf: (one) => `${one.publicHost}:${one.port}`, isFree: (one) => one.status !== "offline" });
  return html`<div class="page"><h1 tabindex="-1">${say("gateways.title")}</h1>
    <${Field} kind="select" label=${say("server.status")} value=${status} onInput=${(value) => setQuery({ status: value })} options=${STATUSES.map((one) => [one, say(`gateways.status.${one || "any"}`)])} />
    <${State} of=${list}>${() => (list.items.length === 0 ? html`<${Empty} action=${html`<p class="dim">${say("gateways.noneText")}</p>`}>${say("gateways.none")}<//>` : html`<${ChooseAll} of=${selection} /><ul class="cards">${list.items.map((gateway) => html`<${Gateway} key=${gateway.gatewayId} gateway=${gateway} selection=${selection} changed=${replace} />`)}</ul>
      <${More} of=${list} /><${SelectionBar} of=${selection} actions=${many()} changed=${list.reload} />`)}<//>
    <${Routes} /></div>`;
}

function many() {
  const drain = (gateway) => admin.changeGateway(gateway.gatewayId, { status: "draining" });
  const takeBack = (gateway) => admin.changeGateway(gateway.gatewayId, { status: "online" });
  return [
    { name: "drain", words: say("gateways.drain"), text: (names) => say("gateways.drainText", { name: names }), fits: (one) => one.status === "online", run: drain, undo: takeBack },
    { name: "takeBack", words: say("gateways.takeBack"), fits: (one) => one.status === "draining", run: takeBack, undo: drain },
  ];
}

function Gateway({ gateway, selection, changed }) {
  const { gatewayId, publicHost, port, region, status, connections, capacity } = gateway;
  const act = useAction(async () => {
    const isDraining = status === "draining";
    if (!isDraining && !(await ask({ title: say("gateways.drain"), text: say("gateways.drainText", { name: publicHost }), confirm: say("gateways.drain") }))) return;
    changed(await admin.changeGateway(gatewayId, { status: isDraining ? "online" : "draining" }));
  });
  return html`<li><${Choice} of=${selection} item=${gateway} /><div class="grow"><p><code>${publicHost}:${port}</code> ${region}</p>
      <meter min="0" max=${capacity} value=${connections} aria-label=${say("gateways.load")}></meter>
      <p class="dim">${say("gateways.connections", { count: connections, all: number(capacity) })} · ${say("server.seen")} <${When} at=${gateway.lastHeartbeatAt} /></p>
      <${Editor} gateway=${gateway} changed=${changed} /><${Complaint} error=${act.error} /></div>
    <span class=${`chip ${TONES[status]}`}>${say(`gateways.status.${status}`)}</span>
    ${status !== "offline" && html`<button type="button" disabled=${act.isRunning} onClick=${() => act.run()} ...${ofRow(status === "draining" ? "gateways.takeBack" : "gateways.drain", publicHost)} />`}</li>`;
}

function Editor({ gateway, changed }) {
  const [capacity, setCapacity] = useState(String(gateway.capacity));
  const [region, setRegion] = useState(gateway.region);
  const save = useAction(async () => changed(await admin.changeGateway(gateway.gatewayId, { capacity: Number(capacity), region: region.trim() })));
  return html`<details><summary ...${ofRow("action.edit", gateway.publicHost)} /><${Form} action=${save} label=${gateway.publicHost} onSubmit=${() => save.run()}><div class="row">
    <${Field} kind="number" min="1" label=${say("gateways.capacity")} value=${capacity} onInput=${setCapacity} error=${save.error} pointer="/capacity" />
    <${Field} label=${say("users.region")} value=${region} onInput=${setRegion} error=${save.error} pointer="/region" maxlength="32" spellcheck=${false} />
    <${Submit} action=${save}>${say("action.save")}<//></div><//></details>`;
}

function Routes() {
  const list = useList((query, signal) => admin.gatewayRoutes({ limit: 50, ...query }, signal));
  return html`<section aria-labelledby="gateway-routes"><h2 id="gateway-routes">${say("gateways.routes")}</h2>
    <${State} of=${list}>${() => (list.items.length === 0 ? html`<${Empty}>${say("gateways.noRoutes")}<//>` : html`<ul class="cards">${list.items.map((route) => html`<li key=${route.serverId}><div class="grow"><p><code>${route.routeHost}</code> → <code>${route.backendHost}:${route.backendPort}</code></p>
        <p class="dim"><${When} at=${route.updatedAt} /></p></div><span class=${`chip ${route.status === "active" ? "good" : "warn"}`}>${say(`route.${route.status}`)}</span></li>`)}</ul>
      <${More} of=${list} />`)}<//></section>`;
}
