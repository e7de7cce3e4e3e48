// All game servers and publications of the installation, and keeping one out of the public list.
import { useState } from "preact/hooks";
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { place } from "../../router.js";
import { useAction, useList } from "../../store.js";
import { ofRow } from "../../ui/row.js";
import { Search } from "../../ui/search.js";
import { Choice, ChooseAll, SelectionBar, useSelection } from "../../ui/selection.js";
import { Complaint, Empty, More, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { say, sayOf } from "../../words.js";

export default function Listing() {
  return html`<div class="page"><h1 tabindex="-1">${say("listing.title")}</h1><${Search} label=${say("discover.search")} /><${Publications} /><${Servers} /></div>`;
}

function Publications() {
  const { query = "" } = place.value.query;
  const list = useList((more, signal) => admin.publications({ query: query || null, limit: 30, ...more }, signal), [query]);
  const [reason, setReason] = useState("");
  const act = useAction(async (publication, changes, isUndo = false) => {
    const changed = await admin.changePublication(publication.id, { ...changes, ...(reason.trim() && { reason: reason.trim() }) });
    list.change((before) => ({ ...before, items: before.items.map((one) => (one.id === changed.id ? changed : one)) }));
    if (isUndo || changes.suppressed === undefined) return;
    toast(say(changes.suppressed ? "listing.suppressed" : "listing.restored", { name: publication.displayName }), { undo: () => act.run(publication, { suppressed: !changes.suppressed }, true) });
  });
  const selection = useSelection(list.items ?? [], { keyOf: (one) => one.id, nameOf: (one) => one.displayName });
  const change = (field, value) => (one) => admin.changePublication(one.id, { [field]: value, ...(reason.trim() && { reason: reason.trim() }) });
  const both = (field, name, undone) => [true, false].map((value) => ({ name: value ? name : undone, words: say(`listing.${value ? name : undone}`), fits: (one) => one[field] !== value, run: change(field, value), undo: change(field, !value) }));
  const many = [...both("suppressed", "suppress", "restore"), ...both("featured", "feature", "unfeature")];
  return html`<section aria-labelledby="listing-publications"><h2 id="listing-publications">${say("listing.publications")}</h2>
    <label class="field">${say("moderation.reason")}<input value=${reason} maxlength="500" onInput=${(event) => setReason(event.currentTarget.value)} /></label>
    <${Complaint} error=${act.error} />
    <${State} of=${list}>${() => list.items.length === 0 ? html`<${Empty}>${say("discover.none")}<//>` : html`<${ChooseAll} of=${selection} /><ul class="cards">${list.items.map((one) => html`<li key=${one.id}>
        <${Choice} of=${selection} item=${one} /><div class="grow"><p><bdi>${one.displayName}</bdi> <code>${one.address}</code></p><p class="dim">${sayOf("listing.state", one.discoveryState)} · <${When} at=${one.updatedAt} /></p></div>
        <div class="buttons"><button type="button" aria-pressed=${one.featured} disabled=${act.isRunning} onClick=${() => act.run(one, { featured: !one.featured })} ...${ofRow("listing.feature", one.displayName)} />
        <button type="button" aria-pressed=${one.suppressed} disabled=${act.isRunning} onClick=${() => act.run(one, { suppressed: !one.suppressed })} ...${ofRow("listing.suppress", one.displayName)} /></div></li>`)}</ul>
      <${More} of=${list} /><${SelectionBar} of=${selection} actions=${many} changed=${list.reload} />`}<//></section>`;
}

function Servers() {
  const { query = "" } = place.value.query;
  const list = useList((more, signal) => admin.servers({ query: query || null, limit: 30, ...more }, signal), [query]);
  return html`<section aria-labelledby="listing-servers"><h2 id="listing-servers">${say("servers.title")}</h2>
    <${State} of=${list}>${() => list.items.length === 0 ? html`<${Empty}>${say("listing.noServers")}<//>` : html`<ul class="cards">${list.items.map((server) => html`<li key=${server.serverId}>
        <div class="grow"><p><bdi>${server.name}</bdi> <span class="dim">${server.serverType}</span></p>
          <p class="dim">${server.ownerId ? html`<a href=${`/app/operate/users/${server.ownerId}`}><bdi>${server.ownerName ?? server.ownerId}</bdi></a>` : say("listing.unclaimed")} · ${say("server.seen")} <${When} at=${server.lastSeenAt} /></p></div>
        <span class=${`chip ${server.status.online ? "good" : "plain"}`}>${server.status.online ? say("discover.playing", { count: server.status.playerCount }) : say("server.offline")}</span></li>`)}</ul>
      <${More} of=${list} />`}<//></section>`;
}
