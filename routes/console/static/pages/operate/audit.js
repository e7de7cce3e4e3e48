// Who did what to whom, with what came before and after; filtered by the address.
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { place, setQuery } from "../../router.js";
import { useList } from "../../store.js";
import { Field } from "../../ui/form.js";
import { Id } from "../../ui/chip.js";
import { LATEST, localOf, momentOf } from "../../ui/local-time.js";
import { ofRow } from "../../ui/row.js";
import { Search } from "../../ui/search.js";
import { Empty, More, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";
import { AuditFile } from "./audit-file.js";

const FILTERS = ["actorId", "targetId", "requestId", "action", "since", "before"];

export default function Audit() {
  const { query } = place.value;
  const wanted = Object.fromEntries(FILTERS.map((name) => [name, query[name] || null]));
  const list = useList((more, signal) => admin.audit({ limit: 50, ...wanted, ...more }, signal), FILTERS.map((name) => query[name]));
  return html`<div class="page"><h1 tabindex="-1">${say("audit.title")}</h1>
    <div class="row"><${Search} label=${say("audit.action")} name="action" />
      ${["actorId", "targetId", "requestId"].map((name) => query[name] && html`<button key=${name} type="button" onClick=${() => setQuery({ [name]: null })}>${say(`audit.${name}`)} ×</button>`)}<${Moment} name="since" value=${query.since} /><${Moment} name="before" value=${query.before} /><${AuditFile} wanted=${wanted} /></div>
    <${State} of=${list}>${() => list.items.length === 0 ? html`<${Empty}>${say(FILTERS.some((name) => wanted[name]) ? "audit.noneSuch" : "audit.none")}<//>` : html`<ol class="cards">${list.items.map((entry) => html`<li key=${entry.id}><div class="grow">
        <p><code>${entry.action}</code> <${Person} id=${entry.actorId} name=${entry.actorName} filter="actorId" />${entry.targetId && html` → <${Person} id=${entry.targetId} name=${entry.targetName} filter="targetId" />`}</p>
        <p class="dim"><${When} at=${entry.at} />${entry.requestId && html` · <${Id} id=${entry.requestId} what=${say("audit.requestId")} />`}</p>
        ${entry.detail && html`<details><summary ...${ofRow("audit.detail", entry.action)} /><pre tabindex="0">${JSON.stringify(entry.detail, null, 2)}</pre></details>`}</div></li>`)}</ol>
      <${More} of=${list} />`}<//></div>`;
}

// A moment in the address is in universal time, and in the control in the reader's.
function Moment({ name, value }) {
  const shown = Number.isNaN(Date.parse(value)) ? "" : localOf(value);
  return html`<${Field} kind="datetime-local" max=${LATEST} label=${say(`audit.${name}`)} value=${shown} onInput=${(text) => setQuery({ [name]: momentOf(text) })} />`;
}

function Person({ id, name, filter }) {
  if (!id) return html`<bdi>${say("audit.service")}</bdi>`;
  return html`<button type="button" class="link" onClick=${() => setQuery({ [filter]: id })}><bdi>${name ?? id}</bdi></button>`;
}
