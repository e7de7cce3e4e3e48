// Fields that a game server's schema describes: one control each, by type. Keys that no field names are kept.
import { html } from "../html.js";
import { isolated, say } from "../words.js";
import { saidByThem } from "./edited.js";
import { numberOf } from "./exact.js";
import { Field } from "./form.js";

/** The masked value of a secret that is set. */
const isMasked = (value) => value !== null && value !== undefined;

/** What the controls show for some data: texts and booleans. */
export function toFields(fields, data) {
  return Object.fromEntries(fields.map((field) => [field.key, shownOf(field, data[field.key] ?? field.default)]));
}

function shownOf({ type }, value) {
  if (type === "bool") return Boolean(value);
  if (type === "secret") return "";
  if (type === "list") return (value ?? []).join("\n");
  return value === null || value === undefined ? "" : String(value);
}

/**
 * The data for what the controls show, on top of what is stored. Empty ones are left out, so that defaults apply; a
 * secret that nobody has typed anew is sent back as its mask, by which the stored value stays.
 */
export function toData(fields, values, before = {}) {
  const data = { ...before };
  for (const field of fields) {
    const value = values[field.key];
    if (value === undefined) continue;
    if (value === "" && field.type !== "string") {
      if (field.type !== "secret") delete data[field.key];
    } else data[field.key] = valueOf(field, value);
  }
  return data;
}

function valueOf({ type, options }, value) {
  switch (type) {
    case "int": case "number": return numberOf(value);
    case "list": return value.split("\n").map((line) => line.trim()).filter(Boolean);
    case "enum": return options?.find((option) => String(option) === value) ?? value;
    default: return value;
  }
}

/**
 * @param {{schema: {fields: any[]}, values: Record<string, any>, set: (key: string) => (value: any) => void,
 *   error: Error|null, at: string, data?: any, theirs?: any}} props `at` is the pointer of the object in the body; `data` what was stored when
 *   the form began, `theirs` what somebody else has stored since.
 */
export function SchemaFields({ schema, values, set, error, at, data = {}, theirs = data }) {
  return schema.fields.map((field) => html`<${Control} key=${field.key} field=${field} value=${values[field.key] ?? shownOf(field, field.default)}
    isSet=${isMasked(data[field.key])} theirs=${said(theirs[field.key]) === said(data[field.key]) ? null : shownOf(field, theirs[field.key])} error=${error} pointer=${`${at}/${field.key.replaceAll("~", "~0").replaceAll("/", "~1")}`}
    onInput=${set(field.key)} />`);
}

const LONG_TEXT = 200;
const said = (value) => JSON.stringify(value ?? null);

function Control({ field, value, isSet, theirs, error, pointer, onInput }) {
  const meanwhile = theirs === null || field.type === "secret" ? null : saidByThem(theirs);
  const hintOf = (...parts) => [field.description && isolated(field.description), ...parts, meanwhile].filter(Boolean).join(" ");
  const shared = { label: field.label ?? field.key, hint: hintOf(), error, pointer, value, onInput, required: field.required || null };
  switch (field.type) {
    case "bool": return html`<${Field} kind="switch" ...${shared} />`;
    case "int": return html`<${Field} kind="number" step="1" min=${field.min} max=${field.max} ...${shared} />`;
    case "number": return html`<${Field} kind="number" step="any" min=${field.min} max=${field.max} ...${shared} />`;
    case "enum": return html`<${Field} kind="select" ...${shared} options=${[...(field.required ? [] : [["", "–"]]), ...(field.options ?? []).map((option) => [String(option), String(option)])]} />`;
    case "list": return html`<${Field} kind="area" rows="4" ...${shared} hint=${hintOf(say("schema.list"))} />`;
    case "secret": return html`<${Field} kind="password" ...${shared} hint=${hintOf(say(isSet ? "schema.secretSet" : "schema.secretUnset"))} />`;
    default: return html`<${Field} kind=${(field.max ?? 0) > LONG_TEXT ? "area" : "text"} maxlength=${field.max} ...${shared} />`;
  }
}
