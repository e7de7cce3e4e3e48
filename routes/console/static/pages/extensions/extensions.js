// The catalog of extensions: one's own, which one can change, and public ones; and services of them.
import { useState } from "preact/hooks";
import { extensions as api } from "../../api.js";
import { html } from "../../html.js";
import { me } from "../../session.js";
import { useAction, useList } from "../../store.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { ofRow } from "../../ui/row.js";
import { Empty, More, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { say } from "../../words.js";
import { Services } from "./services.js";

export default function Extensions() {
  const list = useList((query, signal) => api.list({ limit: 100, ...query }, signal));
  const mine = list.items?.filter((one) => one.ownerId === me.value.id) ?? [];
  const others = list.items?.filter((one) => one.ownerId !== me.value.id) ?? [];
  return html`<div class="page"><h1 tabindex="-1">${say("extensions.title")}</h1><p class="dim">${say("extensions.text")}</p>
    <${State} of=${list}>${() => html`
      <section aria-labelledby="extensions-mine"><h2 id="extensions-mine">${say("extensions.mine")}</h2>
        ${mine.length === 0 ? html`<${Empty}>${say("extensions.none")}<//>` : html`<ul class="cards">${mine.map((one) => html`<${Mine} key=${one.extensionId} extension=${one} changed=${list.reload} />`)}</ul>`}
        <${Make} made=${list.reload} /></section>
      <section aria-labelledby="extensions-others"><h2 id="extensions-others">${say("extensions.others")}</h2>
        ${others.length === 0 ? html`<${Empty}>${say("extensions.noneThere")}<//>` : html`<ul class="cards">${others.map((one) => html`<li key=${one.extensionId}><div class="grow"><${Told} extension=${one} /></div></li>`)}</ul>`}
        <${More} of=${list} /></section>
      <${Services} offered=${list.items} />`}<//></div>`;
}

const Told = ({ extension }) => html`<p><bdi>${extension.name}</bdi> <code>${extension.extensionId}</code></p><p class="dim" dir="auto">${extension.description}</p>`;

function Mine({ extension, changed }) {
  const [isOpen, open] = useState(false);
  return html`<li><div class="grow"><${Told} extension=${extension} />
      ${isOpen && html`<${Editor} extension=${extension} saved=${async () => { open(false); await changed(); }} />`}</div>
    <span class=${`chip ${extension.visibility === "public" ? "good" : "plain"}`}>${say(`extensions.${extension.visibility}`)}</span>
    <button type="button" aria-expanded=${isOpen} onClick=${() => open(!isOpen)} ...${ofRow("action.edit", extension.name)} /></li>`;
}

const visibilities = () => ["private", "public"].map((one) => [one, say(`extensions.${one}`)]);

function Editor({ extension, saved }) {
  const { name, description, visibility } = extension;
  const [fields, setFields] = useState({ name, description, visibility });
  const save = useAction(async () => {
    await api.change(extension.extensionId, fields);
    toast(say("savebar.saved"));
    await saved();
  });
  return html`<${Form} action=${save} label=${name} onSubmit=${() => save.run()}><${Fields} fields=${fields} setFields=${setFields} error=${save.error} />
    <${Submit} action=${save} disabled=${!fields.name.trim() || save.isRunning}>${say("action.save")}<//><//>`;
}

function Fields({ fields, setFields, error }) {
  const set = (name) => (value) => setFields({ ...fields, [name]: value });
  return html`<${Field} label=${say("extensions.name")} value=${fields.name} onInput=${set("name")} error=${error} pointer="/name" maxlength="100" />
    <${Field} kind="area" rows="2" label=${say("extensions.description")} value=${fields.description} onInput=${set("description")} error=${error} pointer="/description" maxlength="500" />
    <${Field} kind="select" label=${say("extensions.visibility")} hint=${say("extensions.visibilityHint")} value=${fields.visibility} onInput=${set("visibility")} options=${visibilities()} />`;
}

const BLANK = { extensionId: "", name: "", description: "", visibility: "private" };

function Make({ made }) {
  const [fields, setFields] = useState(BLANK);
  const create = useAction(async () => {
    await api.create({ ...fields, extensionId: fields.extensionId.trim(), name: fields.name.trim() });
    toast(say("extensions.made"));
    setFields(BLANK);
    await made();
  });
  return html`<details><summary>${say("extensions.make")}</summary><${Form} action=${create} label=${say("extensions.make")} onSubmit=${() => create.run()}>
    <${Field} label=${say("extensions.id")} hint=${say("extensions.idHint")} value=${fields.extensionId} onInput=${(extensionId) => setFields({ ...fields, extensionId })} error=${create.error} pointer="/extensionId" maxlength="64" spellcheck=${false} />
    <${Fields} fields=${fields} setFields=${setFields} error=${create.error} />
    <${Submit} action=${create} disabled=${!fields.extensionId.trim() || !fields.name.trim() || create.isRunning}>${say("extensions.make")}<//><//></details>`;
}
