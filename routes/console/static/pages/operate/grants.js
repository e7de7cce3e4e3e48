// What somebody has been granted, what was taken away, and granting more.
import { useState } from "preact/hooks";
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { LATEST, momentOf } from "../../ui/local-time.js";
import { ofRow } from "../../ui/row.js";
import { Complaint, Empty, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { number, say } from "../../words.js";

const UNITS = ["", "count", "messages", "bytes", "kib", "mib", "gib", "tib", "seconds", "minutes", "hours", "days", "years"];

/** @param {{id: string, changed: () => void}} props of the user. */
export function Grants({ id, changed }) {
  const read = useRead((signal) => admin.permissions(id, signal), [id]);
  const again = async () => {
    changed();
    await read.reload();
  };
  const revoke = useAction(async (grant) => {
    await admin.revoke(id, grant.node);
    toast(say("grants.revoked", { node: grant.node }), grant.source === "admin" ? { undo: async () => { await admin.grant(id, bodyOf(grant)); await again(); } } : {});
    await again();
  });
  return html`<section aria-labelledby="grants"><h2 id="grants">${say("grants.title")}</h2>
    <${State} of=${read}>${({ items }) => items.length === 0 ? html`<${Empty}>${say("grants.none")}<//>` : html`<ul class="cards">${items.map((grant) => html`<li key=${`${grant.node} ${grant.source} ${grant.purchaseId}`}>
      <div class="grow"><code>${grant.node}</code> ${valueOf(grant.value)} <p class="dim">${say(`grants.source.${grant.source}`)}${grant.expiresAt && html` · ${say("grants.until")} <${When} at=${grant.expiresAt} />`}</p></div>
      <span class=${`chip ${grant.negated ? "bad" : "good"}`}>${say(grant.negated ? "grants.taken" : "grants.given")}</span>
      <button type="button" disabled=${revoke.isRunning} onClick=${() => revoke.run(grant)} ...${ofRow("grants.revoke", grant.node)} /></li>`)}</ul>`}<//>
    <${Complaint} error=${revoke.error} /><${Grant} id=${id} granted=${again} /></section>`;
}

const bodyOf = ({ node, negated, expiresAt, value }) => ({ node, negated, ...(expiresAt && { expiresAt }), ...(value !== null && { value }) });

function valueOf(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "number" ? number(value) : `${number(value.value)} ${value.unit}`;
}

/** Whether everybody has a right by itself, as long as nobody was ever given it. */
async function isEverybodys(node) {
  const [known, roles] = await Promise.all([admin.catalog(), admin.roles()]);
  return !known.items.some((one) => one.node === node) && roles.items.some((one) => one.role === "user" && one.nodes.includes(node));
}

function Grant({ id, granted }) {
  const catalog = useRead((signal) => admin.catalog(signal));
  const [fields, setFields] = useState({ node: "", negated: "give", until: "", value: "", unit: "" });
  const set = (name) => (value) => setFields({ ...fields, [name]: value });
  const grant = useAction(async () => {
    const amount = fields.value === "" ? null : fields.unit ? { value: Number(fields.value), unit: fields.unit } : Number(fields.value);
    const node = fields.node.trim();
    const isGiven = fields.negated === "give";
    if (isGiven && (await isEverybodys(node)) && !(await ask({ title: say("grants.everybodys"), text: say("grants.everybodysText", { node }), confirm: say("grants.give"), typed: node, isDanger: true }))) return;
    await admin.grant(id, { node, negated: !isGiven, ...(fields.until && { expiresAt: momentOf(fields.until) }), ...(amount !== null && { value: amount }) });
    setFields({ ...fields, node: "", value: "" });
    await granted();
  });
  return html`<details><summary>${say("grants.grant")}</summary><${Form} action=${grant} label=${say("grants.grant")} onSubmit=${() => grant.run()}>
    <${Field} label=${say("grants.node")} value=${fields.node} onInput=${set("node")} error=${grant.error} pointer="/node" list="permission-nodes" spellcheck=${false} maxlength="200" />
    <datalist id="permission-nodes">${(catalog.data?.items ?? []).map((one) => html`<option value=${one.node}></option>`)}</datalist>
    <${Field} kind="select" label=${say("grants.what")} value=${fields.negated} onInput=${set("negated")} options=${[["give", say("grants.give")], ["take", say("grants.take")]]} />
    <div class="row"><${Field} kind="number" step="any" label=${say("grants.value")} value=${fields.value} onInput=${set("value")} error=${grant.error} pointer="/value" />
      <${Field} kind="select" label=${say("grants.unit")} value=${fields.unit} onInput=${set("unit")} options=${UNITS.map((unit) => [unit, unit || say("grants.noUnit")])} /></div>
    <${Field} kind="datetime-local" max=${LATEST} label=${say("grants.ends")} value=${fields.until} onInput=${set("until")} error=${grant.error} pointer="/expiresAt" />
    <${Submit} action=${grant} disabled=${!fields.node.trim() || grant.isRunning}>${say("grants.grant")}<//><//></details>`;
}
