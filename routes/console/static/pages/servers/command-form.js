// Writing a command: an action of an extension with the form of its schema, or any other with JSON.
import { useMemo, useRef, useState } from "preact/hooks";
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { parse } from "../../ui/exact.js";
import { Form, Submit } from "../../ui/form.js";
import { SchemaFields, toData, toFields } from "../../ui/schema-form.js";
import { say } from "../../words.js";
import { NEEDED } from "./elsewhere.js";
import { lacks, missing, Missing } from "./missing.js";

/**
 * @param {{server: any, send: (request: any) => Promise<unknown>, sent: any[], children: any}} props `sent` are commands that
 *   arrow up brings back, newest first; `children` stand before the button.
 */
export function CommandForm({ server, send, sent, children }) {
  const extensions = useRead((signal) => api.extensions(server.serverId, signal), [server.serverId]);
  const actions = useMemo(() => actionsOf(extensions.data?.items ?? []), [extensions.data]);
  const [name, setName] = useState("");
  const [fields, setFields] = useState({});
  const [json, setJson] = useState("{}");
  const at = useRef(-1); // of the command that was brought back
  const known = actions.find((action) => action.name === name);
  const submit = useAction(async () => {
    const payload = known ? toData(known.fields, fields) : parsed(json);
    at.current = -1;
    await send({ action: known?.id ?? name.trim(), payload, ...(known && { extensionId: known.extensionId }) });
  });
  const fill = ({ action, extensionId, payload }) => {
    setName(extensionId ? `${extensionId} ${action}` : action);
    setJson(JSON.stringify(payload ?? {}));
    const one = actions.find((candidate) => candidate.extensionId === extensionId && candidate.id === action);
    if (one) setFields(toFields(one.fields, payload ?? {}));
  };
  const recall = (event) => {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    // With something else typed, the arrows choose among the names that fit it.
    if (!step || !sent[at.current + step] || (name && at.current < 0)) return;
    event.preventDefault();
    at.current += step;
    fill(sent[at.current]);
  };
  const type = (value) => {
    setName(value);
    setFields({});
    at.current = -1;
  };
  return html`<${Form} action=${submit} label=${say("commands.send")} onSubmit=${() => submit.run()}>
    <div class="field"><label for="command-action">${say("commands.action")}</label>
      <input id="command-action" list="command-actions" value=${name} maxlength="100" spellcheck=${false} autocomplete="off" aria-describedby="command-hint"
        onInput=${(event) => type(event.currentTarget.value)} onKeyDown=${recall} />
      <datalist id="command-actions">${actions.map((action) => html`<option value=${action.name}>${action.label}</option>`)}</datalist>
      <p class="dim" id="command-hint">${say("commands.hint")}</p></div>
    ${known ? html`<${SchemaFields} schema=${known} values=${fields} set=${(key) => (value) => setFields((before) => ({ ...before, [key]: value }))} error=${submit.error} at="/payload" />`
      : html`<div class="field"><label for="command-payload">${say("commands.payload")}</label><textarea id="command-payload" rows="2" spellcheck=${false} value=${json} onInput=${(event) => setJson(event.currentTarget.value)}></textarea></div>`}
    ${children}
    <${Missing} server=${server} capability=${NEEDED} />
    <${Submit} action=${submit} disabled=${!name.trim() || submit.isRunning || lacks(server, NEEDED)} title=${missing(server, NEEDED)}>${say("action.send")}<//>
  <//>`;
}

function actionsOf(registrations) {
  return registrations.flatMap((extension) => extension.actions.map((action) => ({
    name: `${extension.extensionId} ${action.id}`, id: action.id, label: action.label ?? action.id,
    extensionId: extension.extensionId, fields: action.schema?.fields ?? [],
  })));
}

/** What a text of JSON says; throws in words where it is none. @param {string} json */
export function parsed(json) {
  try {
    return parse(json);
  } catch {
    throw new Error(say("commands.notJson"));
  }
}
