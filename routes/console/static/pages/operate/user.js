// One person: who they are, what moderators know of them, their role and rights, and their access.
import { useState } from "preact/hooks";
import { admin, sessions } from "../../api.js";
import { html } from "../../html.js";
import { go, place } from "../../router.js";
import { MODERATOR, SUPER_ADMIN, may, me } from "../../session.js";
import { useAction, useList, useRead } from "../../store.js";
import { Id } from "../../ui/chip.js";
import { ask, showSecret } from "../../ui/dialog.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { ofRow } from "../../ui/row.js";
import { Complaint, More, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { say, sayAround } from "../../words.js";
import { Grants } from "./grants.js";
import { ReportHistory } from "./report-history.js";
import { Rights } from "./rights.js";
import { SeenAs } from "./seen-as.js";

/** @param {{id: string}} props */
export function User({ id }) {
  const read = useRead((signal) => admin.user(id, signal), [id]);
  // What is said about a moderator is for others.
  const open = id !== me.value.id || may(SUPER_ADMIN);
  return html`<div class="page"><h1 tabindex="-1"><bdi>${read.data?.name ?? say("users.title")}</bdi></h1>
    <p><a href="/app/operate/users">${say("users.all")}</a> · <${Id} id=${id} what=${say("profile.id")} /></p>
    <${State} of=${read}>${(user) => html`<section aria-label=${user.name}><dl class="facts"><dt>${say("users.created")}</dt><dd><${When} at=${user.createdAt} /></dd><dt>${say("users.seen")}</dt><dd>${user.lastSeenAt ? html`<${When} at=${user.lastSeenAt} />` : "–"}</dd>
      <dt>${say("users.region")}</dt><dd>${user.homeRegion ?? "–"}</dd></dl></section>
    ${may(MODERATOR) && html`${open && html`<${Notes} id=${id} />`}<section aria-labelledby="user-reports"><h2 id="user-reports">${say("reports.title")}</h2>
      ${open && html`<${ReportHistory} title=${sayAround("reports.about", { name: html`<bdi>${user.name}</bdi>` })} side="targetId" userId=${id} />`}<${ReportHistory} title=${sayAround("reports.from", { name: html`<bdi>${user.name}</bdi>` })} side="reporterId" userId=${id} /></section>`}
    ${may(SUPER_ADMIN) && html`<${Held} id=${id} /><${SeenAs} id=${id} /><${Access} user=${user} />`}`}<//></div>`;
}

// A grant changes what the rights say.
function Held({ id }) {
  const [changes, count] = useState(0);
  return html`<${Rights} id=${id} changes=${changes} /><${Grants} id=${id} changed=${() => count(changes + 1)} />`;
}

function Notes({ id }) {
  const list = useList((query, signal) => admin.notes(id, { limit: 20, ...query }, signal), [id]);
  const [text, setText] = useState("");
  const add = useAction(async () => {
    await admin.addNote(id, text.trim());
    setText("");
    await list.reload();
  });
  const remove = useAction(async (note) => {
    await admin.removeNote(id, note.id);
    await list.reload();
    toast(say("notes.removed"), { undo: async () => { await admin.addNote(id, note.text); await list.reload(); } });
  });
  return html`<section aria-labelledby="user-notes"><h2 id="user-notes">${say("notes.title")}</h2>
    <${State} of=${list}>${() => html`<ul class="cards">${list.items.map((note) => html`<li key=${note.id}><div class="grow"><p dir="auto" class="text">${note.text}</p>
        <p class="dim"><bdi>${note.authorName ?? say("audit.service")}</bdi> · <${When} at=${note.createdAt} /></p></div>
        ${(note.authorId === me.value.id || may(SUPER_ADMIN)) && html`<${NoteEditor} user=${id} note=${note} saved=${list.reload} />
          <button type="button" disabled=${remove.isRunning} onClick=${() => remove.run(note)} ...${ofRow("action.delete", nameOf(note))} />`}</li>`)}</ul>
      <${More} of=${list} />`}<//>
    <${Form} action=${add} label=${say("notes.add")} onSubmit=${() => add.run()}><${Field} kind="area" rows="2" label=${say("notes.text")} value=${text} onInput=${setText} error=${add.error} pointer="/text" maxlength="2000" />
      <${Submit} action=${add} disabled=${!text.trim() || add.isRunning}>${say("notes.add")}<//><//>
    <${Complaint} error=${remove.error} /></section>`;
}

const NAMED_BY = 60; // characters of a note, which tell it from others
const nameOf = (note) => note.text.slice(0, NAMED_BY);

function NoteEditor({ user, note, saved }) {
  const [text, setText] = useState(note.text);
  const save = useAction(async () => {
    await admin.changeNote(user, note.id, text.trim());
    await saved();
  });
  return html`<details><summary ...${ofRow("action.edit", nameOf(note))} /><${Form} action=${save} label=${say("notes.edit", { text: nameOf(note) })} onSubmit=${() => save.run()}>
    <${Field} kind="area" rows="2" label=${say("notes.text")} value=${text} onInput=${setText} error=${save.error} pointer="/text" maxlength="2000" />
    <${Submit} action=${save} disabled=${!text.trim() || save.isRunning}>${say("action.save")}<//><//></details>`;
}

function Access({ user }) {
  const name = user.name;
  const act = useAction((choose) => choose());
  const link = async () => {
    const { url } = await sessions.link(user.userId);
    await showSecret({ title: say("users.link"), text: say("users.linkText", { name }), secret: url });
  };
  const revoke = async () => {
    if (!(await ask({ title: say("users.revoke"), text: say("users.revokeText", { name }), confirm: say("users.revoke") }))) return;
    await admin.revokeTokens(user.userId);
    toast(say("users.revoked", { name }));
  };
  const erase = async () => {
    if (!(await ask({ title: say("users.erase"), text: say("users.eraseText", { name }), confirm: say("users.erase"), typed: name, isDanger: true }))) return;
    await admin.erase(user.userId);
    toast(say("users.erased", { name }));
    if (place.value.path.endsWith(user.userId)) go("/app/operate/users");
  };
  return html`<section aria-labelledby="user-access"><h2 id="user-access">${say("users.access")}</h2><div class="buttons start">
    <button type="button" disabled=${act.isRunning} onClick=${() => act.run(link)}>${say("users.link")}</button>
    <button type="button" disabled=${act.isRunning} onClick=${() => act.run(revoke)}>${say("users.revoke")}</button>
    ${user.userId !== me.value.id && html`<button type="button" class="danger" disabled=${act.isRunning} onClick=${() => act.run(erase)}>${say("users.erase")}</button>`}</div>
    <${Complaint} error=${act.error} /></section>`;
}
