// Who did what to whom, with what came before and after.
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { useList } from "../../store.js";
import { Empty, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

export default function Audit() {
  const list = useList((query, signal) => admin.audit({ limit: 50, ...query }, signal));
  return html`<div class="page"><h1 tabindex="-1">${say("audit.title")}</h1>
    <${State} of=${list}>${() => list.items.length === 0 ? html`<${Empty}>${say("audit.none")}<//>` : html`<ol class="cards">${list.items.map((entry) => html`<li key=${entry.id}><div class="grow">
        <p><code>${entry.action}</code> <bdi>${entry.actorName ?? say("audit.service")}</bdi>${entry.targetId && html` → <bdi>${entry.targetName ?? entry.targetId}</bdi>`}</p>
        <p class="dim"><${When} at=${entry.at} /></p>
        ${entry.detail && html`<details><summary>${say("audit.detail")}</summary><pre>${JSON.stringify(entry.detail, null, 2)}</pre></details>`}</div></li>`)}</ol>
      ${list.hasMore && html`<button type="button" disabled=${list.isGoingOn} onClick=${list.more}>${say("notifications.older")}</button>`}`}<//></div>`;
}
