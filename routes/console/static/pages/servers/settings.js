// A game server's settings: a form from its schema, else JSON; what changed when; and what somebody else has changed.
import { useEffect, useRef, useState } from "preact/hooks";
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { go, place } from "../../router.js";
import { useAction, useList, useRead } from "../../store.js";
import { Conflict } from "../../ui/edited.js";
import { Field } from "../../ui/form.js";
import { SaveBar } from "../../ui/savebar.js";
import { SchemaFields, toData, toFields } from "../../ui/schema-form.js";
import { Empty, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { listed, say } from "../../words.js";
import { Missing } from "./missing.js";

/** @param {{server: any, told: any[]}} props */
export function Settings({ server, told }) {
  const source = place.value.query.source ?? "connect";
  const read = useRead((signal) => api.settings(server.serverId, source, signal), [server.serverId, source]);
  const kept = useRef({}); // what was typed, over to the form of a newer version
  const newer = told.findLast((frame) => frame.event === "settings_updated" && frame.data.source === source)?.data ?? null;
  const renew = (values = {}) => {
    kept.current = values;
    return read.reload();
  };
  return html`<section aria-label=${say("server.settings")}>
    <${Source} source=${source} />
    <${State} of=${read}>${({ value: settings, etag }) => html`<${Editor} key=${`${source} ${settings.version}`} server=${server} settings=${settings} etag=${etag} kept=${kept}
      newer=${newer && newer.version > settings.version ? newer : null} renew=${renew} />`}<//>
    <${History} server=${server} source=${source} version=${read.data?.value.version} />
  </section>`;
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

function Editor({ server, settings, etag, kept, newer, renew }) {
  const fields = settings.schema?.fields ?? null;
  const before = fields ? toFields(fields, settings.data) : { json: JSON.stringify(settings.data, null, 2) };
  const [values, setValues] = useState({ ...before, ...kept.current });
  useEffect(() => { kept.current = {}; }, []);
  const changes = Object.fromEntries(Object.entries(values).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])));
  const isChanged = Object.keys(changes).length > 0;
  useEffect(() => { if (newer && !isChanged) renew(); }, [newer?.version]);
  const save = useAction(async () => {
    const data = fields ? toData(fields, values, settings.data) : JSON.parse(values.json);
    await api.saveSettings(server.serverId, { data, source: settings.source, ...(settings.schema && { schema: settings.schema }) }, etag);
    toast(say("savebar.saved"));
    await renew();
  });
  return html`<div class="form">
    <${Conflict} of=${newer && isChanged ? { keepMine: () => renew(changes), takeTheirs: () => renew() } : null}>${!fields && html`<pre>${JSON.stringify(newer?.data, null, 2)}</pre>`}<//>
    ${fields ? html`<${SchemaFields} schema=${settings.schema} values=${values} data=${settings.data} theirs=${newer?.data} onChange=${setValues} error=${save.error} at="/data" />`
      : html`<${Field} kind="area" rows="10" spellcheck=${false} label=${say("settings.json")} value=${values.json} onInput=${(json) => setValues({ json })} error=${save.error} pointer="/data" />`}
    <${Missing} server=${server} capability="server.settings.write" />
    <${SaveBar} isChanged=${isChanged} action=${save} onSave=${() => save.run()} onDiscard=${() => setValues(before)} /></div>`;
}

function History({ server, source, version }) {
  const list = useList((query, signal) => api.settingsHistory(server.serverId, { source, limit: 20, ...query }, signal), [server.serverId, source, version]);
  return html`<details><summary>${say("settings.history")}</summary><${State} of=${list}>${() => list.items.length === 0 ? html`<${Empty}>${say("settings.noHistory")}<//>`
    : html`<ol class="cards">${list.items.map((one) => html`<li key=${one.version}><div class="grow"><p>${say("settings.version", { number: one.version })} · <${When} at=${one.updatedAt} /></p>
        <p class="dim">${listed(one.changedKeys)}</p><details><summary>${say("settings.data")}</summary><pre>${JSON.stringify(one.data, null, 2)}</pre></details></div></li>`)}</ol>
      ${list.hasMore && html`<button type="button" onClick=${list.more}>${say("notifications.older")}</button>`}`}<//></details>`;
}
