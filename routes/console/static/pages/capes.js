// Capes: one's own, from a picture to being worn, and the catalogue of everybody's.
import { useEffect, useRef, useState } from "preact/hooks";
import { capes as api } from "../api.js";
import { html } from "../html.js";
import { useShared } from "../live.js";
import { byOffset, useAction, useList, useRead } from "../store.js";
import { base64Of } from "../ui/base64.js";
import { saveCapeTemplate } from "../ui/cape-template.js";
import { ask } from "../ui/dialog.js";
import { CapeFigure } from "../ui/figure.js";
import { Field, Form, Submit } from "../ui/form.js";
import { Picture } from "../ui/picture.js";
import { ofRow } from "../ui/row.js";
import { Complaint, Empty, More, State } from "../ui/states.js";
import { toast } from "../ui/toast.js";
import { say } from "../words.js";

const TONES = { approved: "good", blocked: "bad", pending: "warn" };

export default function Capes() {
  const mine = useRead((signal) => api.mine({ limit: 100 }, signal));
  const catalog = useList(byOffset((query, signal) => api.catalog(query, signal), 48));
  const selection = useRead((signal) => api.selection(signal));
  const wear = useAction(async (capeId) => selection.change(await api.wear(capeId)));
  const worn = selection.data?.capeId ?? null;
  useJudged(mine.reload);
  const shelf = (entries, beside) => html`<ul class="shelf">${entries.map((cape) => html`<li key=${cape.id}><${Cape} cape=${cape} isWorn=${cape.id === worn} wear=${wear} />${beside?.(cape)}</li>`)}</ul>`;
  return html`<div class="page"><h1 tabindex="-1">${say("capes.title")}</h1><${Complaint} error=${wear.error} />
    <section aria-labelledby="capes-mine"><h2 id="capes-mine">${say("capes.mine")}</h2>
      <${State} of=${mine}>${({ entries }) => entries.length === 0 ? html`<${Empty}>${say("capes.none")}<//>` : shelf(entries, (cape) => html`<${Moves} cape=${cape} changed=${mine.reload} />`)}<//></section>
    <${Upload} made=${mine.reload} />
    <section aria-labelledby="capes-all"><h2 id="capes-all">${say("capes.catalog")}</h2>
      <${State} of=${catalog}>${() => catalog.items.length === 0 ? html`<${Empty}>${say("capes.noneApproved")}<//>` : html`${shelf(catalog.items)}
        <${More} of=${catalog} words=${say("capes.more")} />`}<//></section></div>`;
}

// Whoever has this page open when a moderator judges a cape is told, and sees what has become of it.
function useJudged(reload) {
  const { data } = useShared("notifications");
  const known = useRef(null); // the ids of what had been told before
  useEffect(() => {
    if (!data) return;
    const judged = data.items.filter((one) => one.kind === "cape_moderated");
    const fresh = judged.filter((one) => known.current && !known.current.has(one.id));
    known.current = new Set(judged.map((one) => one.id));
    for (const one of fresh) toast(say("notifications.kind.cape_moderated", { name: one.data?.name ?? "" }));
    if (fresh.length) reload();
  }, [data]);
}

function Cape({ cape, isWorn, wear }) {
  return html`<${Picture} url=${cape.previewTextureUrl} alt="" width="80" height="128" />
    <p><bdi>${cape.name}</bdi></p><p class="dim"><bdi>${cape.creator}</bdi></p>
    ${cape.status !== "approved" && html`<span class=${`chip ${TONES[cape.status] ?? "plain"}`}>${say(`capes.status.${cape.status}`)}</span>`}
    ${cape.status === "approved" && html`<button type="button" aria-pressed=${isWorn} disabled=${wear.isRunning} onClick=${() => wear.run(isWorn ? null : cape.id)} ...${ofRow(isWorn ? "capes.worn" : "capes.wear", cape.name)} />`}`;
}

const CHANGEABLE = ["draft", "private", "blocked"];

function Moves({ cape, changed }) {
  const [isEdited, edit] = useState(false);
  const act = useAction(async (choose) => {
    await choose();
    await changed();
  });
  const submit = async () => {
    const terms = await api.terms();
    if (!terms.accepted) {
      const text = html`<p>${say("capes.termsText")} <a href=${terms.url} target="_blank" rel="noopener">${say("capes.terms")}</a></p>`;
      if (!(await ask({ title: say("capes.terms"), text, confirm: say("capes.accept") }))) return;
      await api.accept(terms.revision);
    }
    await api.submit(cape.id);
    toast(say("capes.submitted"));
  };
  const remove = async () => {
    if (await ask({ title: say("capes.remove"), text: say("capes.removeText", { name: cape.name }), confirm: say("action.delete"), typed: cape.name, isDanger: true })) await api.remove(cape.id);
  };
  return html`${cape.moderation?.reason && html`<p class="bad" dir="auto">${cape.moderation.reason}</p>`}
    ${isEdited && html`<${Editor} cape=${cape} done=${async () => { edit(false); await changed(); }} />`}
    ${CHANGEABLE.includes(cape.status) && html`<button type="button" disabled=${act.isRunning} onClick=${() => act.run(submit)} ...${ofRow("capes.submit", cape.name)} />
      <button type="button" class="link" aria-expanded=${isEdited} onClick=${() => edit(!isEdited)} ...${ofRow("action.edit", cape.name)} />`}
    ${cape.status === "pending" && html`<button type="button" disabled=${act.isRunning} onClick=${() => act.run(() => api.withdraw(cape.id))} ...${ofRow("friends.cancel", cape.name)} />`}
    <button type="button" class="link" onClick=${() => act.run(remove)} ...${ofRow("action.delete", cape.name)} /><${Complaint} error=${act.error} />`;
}

function Editor({ cape, done }) {
  const [name, setName] = useState(cape.name);
  const [description, setDescription] = useState(cape.description);
  const save = useAction(async () => {
    await api.change(cape.id, { name: name.trim(), description: description.trim() });
    await done();
  });
  return html`<${Form} action=${save} label=${say("capes.edit", { name: cape.name })} onSubmit=${() => save.run()}>
    <${Field} label=${say("capes.name")} value=${name} onInput=${setName} error=${save.error} pointer="/name" maxlength="64" />
    <${Field} kind="area" rows="2" label=${say("capes.description")} value=${description} onInput=${setDescription} error=${save.error} pointer="/description" maxlength="500" />
    <${Submit} action=${save} disabled=${!name.trim() || save.isRunning}>${say("action.save")}<//><//>`;
}

function Upload({ made }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [file, setFile] = useState(null);
  const [sent, setSent] = useState(0);
  const create = useAction(async () => {
    const dataUrl = `data:image/png;base64,${await base64Of(file)}`;
    await api.create({ name: name.trim(), description: description.trim(), texture: { dataUrl } });
    setName("");
    setDescription("");
    setFile(null);
    setSent(sent + 1);
    await made();
  });
  const saved = useRef([]); // Browsers read on from such an address after the click: it is kept as long as the page.
  useEffect(() => () => saved.current.forEach((address) => URL.revokeObjectURL(address)), []);
  const save = useAction(async () => { saved.current.push(await saveCapeTemplate()); });
  return html`<section aria-labelledby="capes-upload"><h2 id="capes-upload">${say("capes.upload")}</h2>
    <${Form} action=${create} label=${say("capes.upload")} onSubmit=${() => create.run()}>
      <${Field} label=${say("capes.name")} value=${name} onInput=${setName} error=${create.error} pointer="/name" maxlength="64" />
      <${Field} kind="area" rows="2" label=${say("capes.description")} value=${description} onInput=${setDescription} error=${create.error} pointer="/description" maxlength="500" />
      <${Field} key=${sent} kind="file" label=${say("capes.file")} hint=${say("capes.fileHint")} accept="image/png" onInput=${setFile} error=${create.error} pointer="/texture/dataUrl" />
      <button type="button" disabled=${save.isRunning} onClick=${() => save.run()}>${say("capes.template")}</button><${Complaint} error=${save.error} />
      ${file && html`<${CapeFigure} file=${file} />`}
      <${Submit} action=${create} disabled=${!file || !name.trim() || create.isRunning}>${say("capes.upload")}<//><//></section>`;
}
