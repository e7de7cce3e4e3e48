// Launchers: the hosts that they may talk to, and how well they run.
import { launcher as api } from "../../api.js";
import { html } from "../../html.js";
import { may } from "../../session.js";
import { useList, useRead } from "../../store.js";
import { Conflict, useEdited } from "../../ui/edited.js";
import { Field } from "../../ui/form.js";
import { SaveBar } from "../../ui/savebar.js";
import { Empty, More, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { number, say } from "../../words.js";

export default function Launcher() {
  return html`<div class="page"><h1 tabindex="-1">${say("launcher.title")}</h1><${Hosts} /><${Reports} /></div>`;
}

function Hosts() {
  const read = useRead((signal) => api.hosts(signal));
  return html`<section aria-labelledby="launcher-hosts"><h2 id="launcher-hosts">${say("launcher.hosts")}</h2>
    <${State} of=${read}>${(kept) => html`<${HostEditor} kept=${kept} />`}<//></section>`;
}

const linesOf = ({ hosts }) => ({ hosts: hosts.join("\n") });

function HostEditor({ kept }) {
  const { fields, set, hint, save, isChanged, discard, conflict } = useEdited({
    kept, fieldsOf: linesOf, read: api.hosts, write: ({ hosts }, etag) => api.setHosts(hosts.split("\n").map((line) => line.trim()).filter(Boolean), etag),
  });
  return html`<${Conflict} of=${conflict} /><${Field} kind="area" rows="6" label=${say("launcher.hosts")} hint=${hint("hosts", say("launcher.hostsHint"))} disabled=${!may("versions:publish")} value=${fields.hosts} onInput=${set("hosts")} error=${save.error} pointer="/hosts" spellcheck=${false} />
    <${SaveBar} isChanged=${isChanged} action=${save} onSave=${() => save.run()} onDiscard=${discard} />`;
}

function Reports() {
  const list = useList((query, signal) => api.reports({ limit: 30, ...query }, signal));
  return html`<section aria-labelledby="launcher-reports"><h2 id="launcher-reports">${say("launcher.reports")}</h2>
    <${State} of=${list}>${({ totals }) => (list.items.length === 0 ? html`<${Empty}>${say("launcher.none")}<//>` : html`
      <dl class="facts">${totals.map((one) => html`<dt><bdi>${one.platform ?? "–"}</bdi> <bdi>${one.launcherVersion}</bdi></dt><dd>${number(one.reports)}</dd>`)}</dl>
      <ul class="cards">${list.items.map((one) => html`<li key=${one.id}><div class="grow"><p><bdi>${one.platform ?? "–"}</bdi> <bdi>${one.launcherVersion}</bdi> · <a href=${`/app/operate/users/${one.userId}`}>${say("launcher.reporter")}</a> · <${When} at=${one.createdAt} /></p>
        <details><summary>${say("audit.detail")}</summary><pre tabindex="0">${JSON.stringify(one.report, null, 2)}</pre></details></div></li>`)}</ul>
      <${More} of=${list} />`)}<//></section>`;
}
