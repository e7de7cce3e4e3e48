// Reports about people, that wait for a moderator.
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useList } from "../../store.js";
import { Complaint, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { say, sayAround } from "../../words.js";
import { Queue } from "./queue.js";
import { ReportHistory } from "./report-history.js";

export default function Reports() {
  const list = useList((query, signal) => admin.reports({ status: "open", limit: 50, ...query }, signal));
  const settle = useAction(async (report, status) => {
    await admin.settle(report.id, status);
    list.change((before) => ({ ...before, items: before.items.filter((one) => one.id !== report.id) }));
    toast(say(`reports.${status}`), { undo: async () => { await admin.settle(report.id, "open"); await list.reload(); } });
  });
  const verdicts = ["dismissed", "actioned"].map((status) => ({ name: status, words: say(`reports.verdict.${status}`), run: (report) => settle.run(report, status) }));
  return html`<div class="page"><h1 tabindex="-1">${say("reports.title")}</h1><${Complaint} error=${settle.error} />
    <${State} of=${list}>${() => html`<${Queue} label=${say("reports.title")} items=${list.items} keyOf=${(report) => report.id} verdicts=${verdicts} draw=${(report) => html`
      <p><a href=${`/app/operate/users/${report.targetId}`}><bdi>${report.targetName ?? report.targetId}</bdi></a> <span class="dim">${say("reports.by")} <bdi>${report.reporterName ?? report.reporterId}</bdi> · <${When} at=${report.createdAt} /></span></p>
      <p dir="auto">${report.reason ?? ""}</p>
      <${ReportHistory} title=${sayAround("reports.about", { name: html`<bdi>${report.targetName ?? report.targetId}</bdi>` })} side="targetId" userId=${report.targetId} without=${report.id} />
      <${ReportHistory} title=${sayAround("reports.from", { name: html`<bdi>${report.reporterName ?? report.reporterId}</bdi>` })} side="reporterId" userId=${report.reporterId} without=${report.id} />`} />
      ${list.hasMore && html`<button type="button" disabled=${list.isGoingOn} onClick=${list.more}>${say("notifications.older")}</button>`}`}<//></div>`;
}
