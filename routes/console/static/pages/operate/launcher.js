// Launchers: the hosts that they may talk to, and how well they run.
import { useState } from "preact/hooks";
import { launcher as api } from "../../api.js";
import { html } from "../../html.js";
import { may } from "../../session.js";
import { useAction, useList, useRead } from "../../store.js";
import { Field } from "../../ui/form.js";
import { SaveBar } from "../../ui/savebar.js";
import { Empty, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { number, say } from "../../words.js";

export default function Launcher() {
  return html`<div class="page"><h1 tabindex="-1">${say("launcher.title")}</h1><${Hosts} /><${Reports} /></div>`;
}

function Hosts() {
  const read = useRead(async (signal) => {
    const response = await api.hosts(signal);
    return { ...(await response.json()), etag: response.headers.get("ETag") };
  });
  return html`<section aria-labelledby="launcher-hosts"><h2 id="launcher-hosts">${say("launcher.hosts")}</h2>
    <${State} of=${read}>${(list) => html`<${HostEditor} key=${list.version} list=${list} saved=${read.reload} />`}<//></section>`;
}

function HostEditor({ list, saved }) {
  const before = list.hosts.join("\n");
  const [text, setText] = useState(before);
  const save = useAction(async () => {
    await api.setHosts(text.split("\n").map((line) => line.trim()).filter(Boolean), list.etag);
    toast(say("savebar.saved"));
    await saved();
  });
  return html`<${Field} kind="area" rows="6" label=${say("launcher.hosts")} hint=${say("launcher.hostsHint")} disabled=${!may("versions:publish")} value=${text} onInput=${setText} error=${save.error} pointer="/hosts" spellcheck=${false} />
    <${SaveBar} isChanged=${text !== before} action=${save} onSave=${() => save.run()} onDiscard=${() => setText(before)} />`;
}

function Reports() {
  const list = useList((query, signal) => api.reports({ limit: 30, ...query }, signal));
  return html`<section aria-labelledby="launcher-reports"><h2 id="launcher-reports">${say("launcher.reports")}</h2>
    <${State} of=${list}>${({ totals }) => (list.items.length === 0 ? html`<${Empty}>${say("launcher.none")}<//>` : html`
      <dl class="facts">${totals.map((one) => html`<dt>${one.platform ?? "–"} ${one.launcherVersion ?? ""}</dt><dd>${number(one.reports)}</dd>`)}</dl>
      <ul class="cards">${list.items.map((one) => html`<li key=${one.id}><div class="grow"><p>${one.platform ?? "–"} ${one.launcherVersion ?? ""} · <a href=${`/app/operate/users/${one.userId}`}>${say("launcher.reporter")}</a> · <${When} at=${one.createdAt} /></p>
        <details><summary>${say("audit.detail")}</summary><pre>${JSON.stringify(one.report, null, 2)}</pre></details></div></li>`)}</ul>
      ${list.hasMore && html`<button type="button" disabled=${list.isGoingOn} onClick=${list.more}>${say("notifications.older")}</button>`}`)}<//></section>`;
}
