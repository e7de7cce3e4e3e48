// A game server's settings: a form from its schema, else JSON; what changed when; and what somebody else has changed.
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useTold } from "../../live.js";
import { go, place } from "../../router.js";
import { useList, useRead } from "../../store.js";
import { Conflict, useEdited } from "../../ui/edited.js";
import { read } from "../../ui/exact.js";
import { Field } from "../../ui/form.js";
import { ofRow } from "../../ui/row.js";
import { SaveBar } from "../../ui/savebar.js";
import { SchemaFields, toData, toFields } from "../../ui/schema-form.js";
import { Empty, More, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { listed, say } from "../../words.js";
import { parsed } from "./command-form.js";
import { Missing } from "./missing.js";

/** @param {{server: any, told: any[]}} props */
export function Settings({ server, told }) {
  const source = place.value.query.source ?? "connect";
  return html`<section aria-label=${say("server.settings")}><${Source} source=${source} />
    <${OfSource} key=${`${server.serverId} ${source}`} server=${server} source=${source} told=${told} /></section>`;
}

// Another source is another page: it comes when the name is whole, and not without asking where something is not saved.
function Source({ source }) {
  const change = (event) => {
    if (!go(`${place.value.path}?${new URLSearchParams({ source: event.currentTarget.value })}`, { replace: true })) event.currentTarget.value = source;
  };
  return html`<div class="field"><label for="settings-source">${say("settings.source")}</label>
    <input id="settings-source" value=${source} maxlength="100" spellcheck=${false} autocomplete="off" aria-describedby="settings-source-hint" onChange=${change} />
    <p class="dim" id="settings-source-hint">${say("settings.sourceHint")}</p></div>`;
}

function OfSource({ server, source, told }) {
  const found = useRead((signal) => api.settings(server.serverId, source, read, signal));
  const isThis = (settings) => settings.source === source;
  const newest = useTold(told, "settings_updated", { fits: isThis, inSnapshot: ({ settings }) => settings.find(isThis) });
  return html`<${State} of=${found}>${(kept) => html`<${Editor} server=${server} kept=${kept} newest=${newest} />`}<//>`;
}

const fieldsIn = ({ schema, data }) => (schema ? toFields(schema.fields, data) : { json: JSON.stringify(data, null, 2) });

function Editor({ server, kept, newest }) {
  const { value: settings, fields, set, save, isChanged, discard, conflict } = useEdited({
    kept, fieldsOf: fieldsIn, read: () => api.settings(server.serverId, kept.value.source, read),
    isOld: (one) => newest !== null && newest.version > one.version,
    write: (values, etag, { source, schema, data: before }) =>
      api.saveSettings(server.serverId, { data: schema ? toData(schema.fields, values, before) : parsed(values.json), source, ...(schema && { schema }) }, read, etag),
  });
  const theirs = conflict?.value.data;
  return html`<div class="form">
      <${Conflict} of=${conflict}>${!settings.schema && html`<pre tabindex="0">${JSON.stringify(theirs, null, 2)}</pre>`}<//>
      ${settings.schema ? html`<${SchemaFields} schema=${settings.schema} values=${fields} data=${settings.data} theirs=${theirs} set=${set} error=${save.error} at="/data" />`
        : html`<${Field} kind="area" rows="10" spellcheck=${false} label=${say("settings.json")} value=${fields.json} onInput=${set("json")} error=${save.error} pointer="/data" />`}
      <${Missing} server=${server} capability="server.settings.write" />
      <${SaveBar} isChanged=${isChanged} action=${save} onSave=${() => save.run()} onDiscard=${discard} /></div>
    <${History} server=${server} source=${settings.source} version=${settings.version} />`;
}

function History({ server, source, version }) {
  const list = useList((query, signal) => api.settingsHistory(server.serverId, { source, limit: 20, ...query }, read, signal), [server.serverId, source, version]);
  return html`<details><summary>${say("settings.history")}</summary><${State} of=${list}>${() => list.items.length === 0 ? html`<${Empty}>${say("settings.noHistory")}<//>`
    : html`<ol class="cards">${list.items.map((one) => html`<li key=${one.version}><div class="grow"><p>${say("settings.version", { number: one.version })} · <${When} at=${one.updatedAt} /></p>
        <p class="dim">${listed(one.changedKeys)}</p><details><summary ...${ofRow("settings.data", say("settings.version", { number: one.version }))} /><pre tabindex="0">${JSON.stringify(one.data, null, 2)}</pre></details></div></li>`)}</ol>
      <${More} of=${list} />`}<//></details>`;
}
