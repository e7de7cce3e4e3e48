// Where one is signed in, ending that elsewhere, and signing in on another device.
import { sessions } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { browserOf } from "../../ui/browser-name.js";
import { ask, showSecret } from "../../ui/dialog.js";
import { ofRow } from "../../ui/row.js";
import { Complaint, Empty, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

function nameOf(said) {
  const known = browserOf(said);
  return known ? say("sessions.browser", known) : said || say("sessions.unknown");
}

export function Sessions() {
  const list = useRead((signal) => sessions.list(signal));
  const end = useAction(async (session) => {
    if (!(await ask({ title: say("sessions.end"), text: say("sessions.endText"), confirm: say("sessions.end") }))) return;
    await sessions.end(session.id);
    await list.reload();
  });
  const endOthers = useAction(async () => {
    if (!(await ask({ title: say("sessions.endOthers"), text: say("sessions.endOthersText"), confirm: say("sessions.endOthers") }))) return;
    await sessions.endOthers();
    await list.reload();
  });
  const link = useAction(async () => {
    const { url } = await sessions.link();
    await showSecret({ title: say("sessions.link"), text: say("sessions.linkText"), secret: url });
  });
  return html`<section aria-labelledby="profile-sessions"><h2 id="profile-sessions">${say("sessions.title")}</h2>
    <${State} of=${list}>${({ items }) => items.length === 0 ? html`<${Empty}>${say("sessions.none")}<//>` : html`<ul class="cards">
      ${items.map((session) => html`<li key=${session.id}><div class="grow"><p title=${session.browser}><bdi>${nameOf(session.browser)}</bdi> ${session.current && html`<span class="chip good">${say("sessions.this")}</span>`}</p>
        <p class="dim">${session.address} · ${say("sessions.since")} <${When} at=${session.createdAt} /> · ${say("sessions.last")} <${When} at=${session.lastUsedAt} /></p></div>
        ${!session.current && html`<button type="button" disabled=${end.isRunning} onClick=${() => end.run(session)} ...${ofRow("sessions.end", nameOf(session.browser))} />`}</li>`)}</ul>`}<//>
    <div class="buttons start"><button type="button" disabled=${link.isRunning} onClick=${() => link.run()}>${say("sessions.link")}</button>
      <button type="button" disabled=${endOthers.isRunning} onClick=${() => endOthers.run()}>${say("sessions.endOthers")}</button></div>
    <${Complaint} error=${end.error ?? endOthers.error ?? link.error} /></section>`;
}
