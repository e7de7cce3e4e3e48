// What somebody may do, node by node, and which role, grant or purchase decides that.
import { useEffect, useState } from "preact/hooks";
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Complaint, State } from "../../ui/states.js";
import { Table } from "../../ui/table.js";
import { When } from "../../ui/when.js";
import { number, say, sayOf } from "../../words.js";

const ROLES = ["moderator", "admin", "super-admin"];

/** @param {{id: string, changes: number}} props of the user; with each change of their grants it is read again. */
export function Rights({ id, changes }) {
  const read = useRead((signal) => admin.rights(id, signal), [id]);
  useEffect(() => { if (changes > 0) read.reload(); }, [changes]);
  const [text, setText] = useState("");
  return html`<section aria-labelledby="user-rights"><h2 id="user-rights">${say("rights.title")}</h2>
    <${State} of=${read}>${({ roles, items }) => html`<${Roles} id=${id} roles=${roles} changed=${read.reload} />
      <label class="field">${say("rights.filter")}<input type="search" value=${text} onInput=${(event) => setText(event.currentTarget.value)} /></label>
      <div class="boxed"><${Table} label=${say("rights.list")} columns=${columns()} keyOf=${(right) => right.node} items=${items.filter((right) => right.node.includes(text.trim()))} /></div>`}<//></section>`;
}

function Roles({ id, roles, changed }) {
  const act = useAction(async (role) => {
    const isGiven = roles.includes(role);
    const words = say(isGiven ? "rights.takeRole" : "rights.giveRole", { role: say(`users.role.${role}`) });
    if (!(await ask({ title: words, text: say(`rights.roleText.${role}`), confirm: words, isDanger: isGiven }))) return;
    await (isGiven ? admin.removeRole(id, role) : admin.addRole(id, role));
    await changed();
  });
  return html`<fieldset class="buttons start"><legend class="hidden">${say("users.role")}</legend>
    ${ROLES.map((role) => html`<button key=${role} type="button" aria-pressed=${roles.includes(role)} disabled=${act.isRunning} onClick=${() => act.run(role)}>${say(`users.role.${role}`)}</button>`)}</fieldset>
    <${Complaint} error=${act.error} />`;
}

function columns() {
  return [
    { name: "node", label: say("grants.node"), width: "minmax(14rem, 2fr)", cell: (right) => html`<code>${right.node}</code>` },
    { name: "allowed", label: say("rights.verdict"), width: "7rem", cell: (right) => (right.quota ? amount(right.value) : html`<span class=${`chip ${right.allowed ? "good" : "plain"}`}>${say(right.allowed ? "rights.yes" : "rights.no")}</span>`) },
    { name: "reason", label: say("rights.reason"), width: "minmax(14rem, 3fr)", cell: (right) => html`<span title=${right.reason.pattern ?? ""}>${because(right.reason)}${right.reason.expiresAt && html`, ${say("grants.until")} <${When} at=${right.reason.expiresAt} />`}</span>` },
  ];
}

function because(reason) {
  const by = reason.givenByName ?? say("audit.service");
  return sayOf("rights.by", reason.by) === reason.by ? reason.by : say(`rights.by.${reason.by}`, { by, role: reason.role ? sayOf("users.role", reason.role) : "" });
}

const amount = (value) => (value === null ? "–" : typeof value === "number" ? number(value) : `${number(value.value)} ${value.unit}`);
