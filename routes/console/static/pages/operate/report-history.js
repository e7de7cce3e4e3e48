// What was reported of somebody before, and what they have reported: a moderator judges nobody by one report alone.
import { useState } from "preact/hooks";
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { useList } from "../../store.js";
import { Empty, More, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

/**
 * One side, read when it is opened.
 *
 * @param {{title: any, side: "targetId"|"reporterId", userId: string, without?: string}} props `without` is the id of a
 *   report that is shown already.
 */
export function ReportHistory({ title, side, userId, without }) {
  const [isOpen, open] = useState(false);
  return html`<details onToggle=${(event) => open(event.currentTarget.open)}><summary>${title}</summary>
    ${isOpen && html`<${Reports} side=${side} userId=${userId} without=${without} />`}</details>`;
}

/** Who has settled a report, when, and why. @param {{report: any}} props */
export function Verdict({ report }) {
  const { settledAt, settledBy, settledByName, settledReason } = report;
  if (!settledAt) return null;
  return html`<p class="dim">${say("reports.judgedBy")} <bdi>${settledByName ?? settledBy}</bdi> · <${When} at=${settledAt} />${settledReason && html`<br /><span dir="auto">${settledReason}</span>`}</p>`;
}

function Reports({ side, userId, without }) {
  const list = useList((query, signal) => admin.reports({ [side]: userId, limit: 20, ...query }, signal), [side, userId]);
  const other = side === "targetId" ? "reporter" : "target";
  return html`<${State} of=${list}>${() => {
    const items = list.items.filter((one) => one.id !== without);
    if (items.length === 0 && !list.hasMore) return html`<${Empty}>${say("reports.noOthers")}<//>`;
    return html`<ul class="plain">${items.map((one) => html`<li key=${one.id}><p><span class=${`chip ${one.status === "open" ? "warn" : "plain"}`}>${say(`reports.status.${one.status}`)}</span> <a href=${`/app/operate/users/${one[`${other}Id`]}`}><bdi>${one[`${other}Name`] ?? one[`${other}Id`]}</bdi></a> <span class="dim"><${When} at=${one.createdAt} /></span></p>
        <p dir="auto">${one.reason ?? ""}</p><${Verdict} report=${one} /></li>`)}</ul>
      <${More} of=${list} />`;
  }}<//>`;
}
