// Reports about people: those that wait for a moderator, and what was said of the others.
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { place, setQuery } from "../../router.js";
import { useList } from "../../store.js";
import { Field } from "../../ui/form.js";
import { More, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say, sayAround } from "../../words.js";
import { Queue, useArrivals, without } from "./queue.js";
import { ReportHistory, Verdict } from "./report-history.js";

const STATUSES = ["open", "dismissed", "actioned"];
const VERDICTS = ["dismissed", "actioned", "open"];
const PAGE = 50;
const TOLD = { number: "reports", newest: "newestReportId" };

export default function Reports() {
  const { status = "open" } = place.value.query;
  const list = useList((query, signal) => admin.reports({ status, limit: PAGE, ...query }, signal), [status]);
  // Whoever has gone on to older ones keeps their place.
  const queue = status === "open" && list.items?.length <= PAGE ? list.items : null;
  useArrivals(TOLD, queue, !list.hasMore, () => queue && list.reload());
  const changed = (reports, isUndone) => (isUndone ? list.reload() : list.change((before) => ({ ...before, items: without(before.items, reports) })));
  const verdicts = VERDICTS.filter((one) => one !== status).map((one) => ({
    name: one,
    words: say(`reports.verdict.${one}`),
    said: () => say(`reports.${one}`),
    run: (report, reason) => admin.settle(report.id, { status: one, ...(one !== "open" && reason && { reason }) }),
    undo: (report) => admin.settle(report.id, { status: report.status, ...(report.settledReason && { reason: report.settledReason }) }),
  }));
  return html`<div class="page"><h1 tabindex="-1">${say("reports.title")}</h1>
    <${Field} kind="select" label=${say("server.status")} value=${status} onInput=${(value) => setQuery({ status: value, chosen: null })} options=${STATUSES.map((one) => [one, say(`reports.status.${one}`)])} />
    <${State} of=${list}>${() => html`<${Queue} key=${status} label=${say("reports.title")} items=${list.items} keyOf=${(report) => report.id} nameOf=${targetOf} verdicts=${verdicts} reasonWords=${say("reports.reason")} emptyWords=${say(status === "open" ? "queue.empty" : "newsdesk.none")} changed=${changed} draw=${(report) => html`<${Report} report=${report} />`} />
      <${More} of=${list} />`}<//></div>`;
}

const targetOf = (report) => report.targetName ?? report.targetId;
const reporterOf = (report) => report.reporterName ?? report.reporterId;

function Report({ report }) {
  return html`<p><a href=${`/app/operate/users/${report.targetId}`}><bdi>${targetOf(report)}</bdi></a> <span class="dim">${say("reports.by")} <bdi>${reporterOf(report)}</bdi> · <${When} at=${report.createdAt} /></span></p>
    <p dir="auto">${report.reason ?? ""}</p><${Verdict} report=${report} />
    <${ReportHistory} title=${sayAround("reports.about", { name: html`<bdi>${targetOf(report)}</bdi>` })} side="targetId" userId=${report.targetId} without=${report.id} />
    <${ReportHistory} title=${sayAround("reports.from", { name: html`<bdi>${reporterOf(report)}</bdi>` })} side="reporterId" userId=${report.reporterId} without=${report.id} />`;
}
