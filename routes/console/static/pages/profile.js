// Oneself: name and rights, privacy, and where one is signed in.
import { useState } from "preact/hooks";
import { profile as api, sessions } from "../api.js";
import { html } from "../html.js";
import { me } from "../session.js";
import { useAction, useRead } from "../store.js";
import { Id } from "../ui/chip.js";
import { ask, showSecret } from "../ui/dialog.js";
import { Field } from "../ui/form.js";
import { SaveBar } from "../ui/savebar.js";
import { Complaint, Empty, State } from "../ui/states.js";
import { toast } from "../ui/toast.js";
import { When } from "../ui/when.js";
import { say } from "../words.js";

export default function Profile() {
  const own = useRead((signal) => api.own(signal));
  return html`<div class="page"><h1 tabindex="-1">${say("profile.title")}</h1>
    <${State} of=${own}>${(self) => html`<section><h2>${self.name}</h2>
      <p>${self.highestRoleLabel} · <${Id} id=${self.userId} what=${say("profile.id")} /></p>
      <details><summary>${say("profile.rights", { count: self.permissions.length })}</summary><ul class="columns">${self.permissions.map((node) => html`<li><code>${node}</code></li>`)}</ul></details></section>`}<//>
    <${Privacy} />
    <${Sessions} />
  </div>`;
}

function Privacy() {
  const read = useRead((signal) => api.settings(signal));
  return html`<section aria-labelledby="profile-privacy"><h2 id="profile-privacy">${say("profile.privacy")}</h2>
    <${State} of=${read}>${(settings) => html`<${PrivacyForm} settings=${settings} saved=${read.change} />`}<//></section>`;
}

function PrivacyForm({ settings, saved }) {
  const before = { allowFriendRequests: settings.allowFriendRequests, serverListVisibility: settings.privacy.serverListVisibility };
  const [fields, setFields] = useState(before);
  const isChanged = JSON.stringify(fields) !== JSON.stringify(before);
  const save = useAction(async () => {
    saved(await api.change({ allowFriendRequests: fields.allowFriendRequests, privacy: { serverListVisibility: fields.serverListVisibility } }));
    toast(say("savebar.saved"));
  });
  const visible = ["PUBLIC", "FRIENDS", "PRIVATE"].map((one) => [one, say(`profile.visible.${one}`)]);
  return html`<${Field} kind="switch" label=${say("profile.requests")} value=${fields.allowFriendRequests} onInput=${(value) => setFields({ ...fields, allowFriendRequests: value })} />
    <${Field} kind="select" label=${say("profile.servers")} options=${visible} value=${fields.serverListVisibility} onInput=${(value) => setFields({ ...fields, serverListVisibility: value })} />
    <${SaveBar} isChanged=${isChanged} action=${save} onSave=${() => save.run()} onDiscard=${() => setFields(before)} />`;
}

function Sessions() {
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
      ${items.map((session) => html`<li key=${session.id}><div class="grow"><p>${session.browser || say("sessions.unknown")} ${session.current && html`<span class="chip good">${say("sessions.this")}</span>`}</p>
        <p class="dim">${session.address} · ${say("sessions.since")} <${When} at=${session.createdAt} /> · ${say("sessions.last")} <${When} at=${session.lastUsedAt} /></p></div>
        ${!session.current && html`<button type="button" disabled=${end.isRunning} onClick=${() => end.run(session)}>${say("sessions.end")}</button>`}</li>`)}</ul>`}<//>
    <div class="buttons start"><button type="button" disabled=${link.isRunning} onClick=${() => link.run()}>${say("sessions.link")}</button>
      <button type="button" disabled=${endOthers.isRunning} onClick=${() => endOthers.run()}>${say("sessions.endOthers")}</button></div>
    <${Complaint} error=${end.error ?? endOthers.error ?? link.error} /></section>`;
}
