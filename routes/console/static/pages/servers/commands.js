// A game server's console: send a command, and see what becomes of it as it happens.
import { useEffect, useMemo, useState } from "preact/hooks";
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useList, useRead } from "../../store.js";
import { Form, Submit } from "../../ui/form.js";
import { SchemaFields, toData, toFields } from "../../ui/schema-form.js";
import { Complaint, Empty, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { duration, say, sayOf } from "../../words.js";
import { lacks, Missing } from "./missing.js";

const TONES = { success: "good", failed: "bad", expired: "warn", cancelled: "plain" };

/** @param {{server: any, told: any[]}} props `told` are frames of the server's channel. */
export function Commands({ server, told }) {
  const list = useList((query, signal) => api.commands(server.serverId, { limit: 50, ...query }, signal), [server.serverId]);
  useEffect(() => {
    const changed = told.filter((frame) => frame.event === "command").map((frame) => frame.data);
    if (changed.length && list.data) list.change((before) => ({ ...before, items: changed.reduce(withCommand, before.items) }));
  }, [told]);
  return html`<section aria-label=${say("server.console")} class="console">
    <${Send} server=${server} sent=${(command) => list.change((before) => ({ ...before, items: withCommand(before.items, command) }))} last=${list.items?.[0]} />
    <${State} of=${list}>${() => list.items.length === 0 ? html`<${Empty}>${say("commands.none")}<//>`
      : html`<ol class="cards">${list.items.map((command) => html`<${Command} key=${command.id} command=${command} />`)}</ol>
        ${list.hasMore && html`<button type="button" disabled=${list.isGoingOn} onClick=${list.more}>${say("notifications.older")}</button>`}`}<//>
  </section>`;
}

function withCommand(items, command) {
  const at = items.findIndex((one) => one.id === command.id);
  if (at < 0) return [command, ...items];
  return items[at].version > command.version ? items : items.with(at, command);
}

function Command({ command }) {
  const cancel = useAction(() => api.cancel(command.serverId, command.id));
  const isOpen = command.finishedAt === null;
  const tookMs = command.finishedAt && Date.parse(command.finishedAt) - Date.parse(command.createdAt);
  return html`<li><div class="grow"><p><code>${command.action}</code> <span class=${`chip ${TONES[command.status] ?? "warn"}`}>${sayOf("commands", command.status)}</span>
      ${isOpen && command.progress !== null && html` <progress max="100" value=${command.progress} aria-label=${say("commands.progress")}></progress>`}</p>
    <p class="dim"><${When} at=${command.createdAt} />${tookMs !== null && tookMs !== undefined && tookMs !== false && html` · ${say("commands.took", { time: duration(tookMs) })}`}</p>
    ${command.error && html`<p class="bad">${command.error}</p>`}
    ${hasContent(command.payload) && html`<details><summary>${say("commands.payload")}</summary><pre>${JSON.stringify(command.payload, null, 2)}</pre></details>`}
    ${command.result !== null && html`<details><summary>${say("commands.result")}</summary><pre>${JSON.stringify(command.result, null, 2)}</pre></details>`}
    <${Complaint} error=${cancel.error} /></div>
    ${isOpen && html`<button type="button" disabled=${cancel.isRunning} onClick=${() => cancel.run()}>${say("action.cancel")}</button>`}</li>`;
}

const hasContent = (payload) => payload !== null && Object.keys(payload).length > 0;

function Send({ server, sent, last }) {
  const extensions = useRead((signal) => api.extensions(server.serverId, signal), [server.serverId]);
  const actions = useMemo(() => actionsOf(extensions.data?.items ?? []), [extensions.data]);
  const [name, setName] = useState("");
  const [fields, setFields] = useState({});
  const [json, setJson] = useState("{}");
  const known = actions.find((action) => action.name === name);
  const send = useAction(async () => {
    const payload = known ? toData(known.fields, fields) : parsed(json);
    const { command } = await api.send(server.serverId, { action: known?.id ?? name.trim(), payload, ...(known && { extensionId: known.extensionId }) });
    sent(command);
  });
  const recall = (event) => {
    if (event.key !== "ArrowUp" || name || !last) return;
    event.preventDefault();
    setName(last.extensionId ? `${last.extensionId} ${last.action}` : last.action);
    setJson(JSON.stringify(last.payload ?? {}));
    const action = actions.find((one) => one.extensionId === last.extensionId && one.id === last.action);
    if (action) setFields(toFields(action.fields, last.payload ?? {}));
  };
  return html`<${Form} action=${send} label=${say("commands.send")} onSubmit=${() => send.run()}>
    <div class="field"><label for="command-action">${say("commands.action")}</label>
      <input id="command-action" list="command-actions" value=${name} maxlength="100" spellcheck="false" autocomplete="off" aria-describedby="command-hint"
        onInput=${(event) => { setName(event.currentTarget.value); setFields({}); }} onKeyDown=${recall} />
      <datalist id="command-actions">${actions.map((action) => html`<option value=${action.name}>${action.label}</option>`)}</datalist>
      <p class="dim" id="command-hint">${say("commands.hint")}</p></div>
    ${known ? html`<${SchemaFields} schema=${known} values=${fields} onChange=${setFields} error=${send.error} at="/payload" />`
      : html`<div class="field"><label for="command-payload">${say("commands.payload")}</label><textarea id="command-payload" rows="2" spellcheck="false" value=${json} onInput=${(event) => setJson(event.currentTarget.value)}></textarea></div>`}
    <${Missing} server=${server} capability="server.commands.write" />
    <${Submit} action=${send} disabled=${!name.trim() || send.isRunning || lacks(server, "server.commands.write")}>${say("action.send")}<//>
  <//>`;
}

function actionsOf(registrations) {
  return registrations.flatMap((extension) => extension.actions.map((action) => ({
    name: `${extension.extensionId} ${action.id}`, id: action.id, label: action.label ?? action.id,
    extensionId: extension.extensionId, fields: action.schema?.fields ?? [],
  })));
}

function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    throw new Error(say("commands.notJson"));
  }
}
