// Capes: one's own, from a picture to being worn, and the catalogue of everybody's.
import { useEffect, useState } from "preact/hooks";
import { capes as api } from "../api.js";
import { html } from "../html.js";
import { useAction, useRead } from "../store.js";
import { ask } from "../ui/dialog.js";
import { Field, Form, Submit } from "../ui/form.js";
import { Picture } from "../ui/picture.js";
import { Complaint, Empty, State } from "../ui/states.js";
import { toast } from "../ui/toast.js";
import { say } from "../words.js";

const TONES = { approved: "good", blocked: "bad", pending: "warn" };

export default function Capes() {
  const mine = useRead((signal) => api.mine({ limit: 100 }, signal));
  const catalog = useRead((signal) => api.catalog({ limit: 50 }, signal));
  const selection = useRead((signal) => api.selection(signal));
  const wear = useAction(async (capeId) => selection.change(await api.wear(capeId)));
  const worn = selection.data?.capeId ?? null;
  const shelf = (entries, beside) => html`<ul class="shelf">${entries.map((cape) => html`<li key=${cape.id}><${Cape} cape=${cape} isWorn=${cape.id === worn} wear=${wear} />${beside?.(cape)}</li>`)}</ul>`;
  return html`<div class="page"><h1 tabindex="-1">${say("capes.title")}</h1><${Complaint} error=${wear.error} />
    <section aria-labelledby="capes-mine"><h2 id="capes-mine">${say("capes.mine")}</h2>
      <${State} of=${mine}>${({ entries }) => entries.length === 0 ? html`<${Empty}>${say("capes.none")}<//>` : shelf(entries, (cape) => html`<${Moves} cape=${cape} changed=${mine.reload} />`)}<//></section>
    <${Upload} made=${mine.reload} />
    <section aria-labelledby="capes-all"><h2 id="capes-all">${say("capes.catalog")}</h2>
      <${State} of=${catalog}>${({ entries }) => entries.length === 0 ? html`<${Empty}>${say("capes.noneApproved")}<//>` : shelf(entries)}<//></section></div>`;
}

function Cape({ cape, isWorn, wear }) {
  return html`<${Picture} url=${cape.previewTextureUrl} alt="" width="80" height="128" />
    <p><bdi>${cape.name}</bdi></p><p class="dim"><bdi>${cape.creator}</bdi></p>
    ${cape.status !== "approved" && html`<span class=${`chip ${TONES[cape.status] ?? "plain"}`}>${say(`capes.status.${cape.status}`)}</span>`}
    ${cape.status === "approved" && html`<button type="button" aria-pressed=${isWorn} disabled=${wear.isRunning} onClick=${() => wear.run(isWorn ? null : cape.id)}>${say(isWorn ? "capes.worn" : "capes.wear")}</button>`}`;
}

function Moves({ cape, changed }) {
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
    ${["draft", "private", "blocked"].includes(cape.status) && html`<button type="button" disabled=${act.isRunning} onClick=${() => act.run(submit)}>${say("capes.submit")}</button>`}
    ${cape.status === "pending" && html`<button type="button" disabled=${act.isRunning} onClick=${() => act.run(() => api.withdraw(cape.id))}>${say("friends.cancel")}</button>`}
    <button type="button" class="link" onClick=${() => act.run(remove)}>${say("action.delete")}</button><${Complaint} error=${act.error} />`;
}

function Upload({ made }) {
  const [name, setName] = useState("");
  const [file, setFile] = useState(null);
  const preview = usePreview(file);
  const create = useAction(async () => {
    const dataUrl = `data:image/png;base64,${await base64Of(file)}`;
    await api.create({ name: name.trim(), texture: { dataUrl } });
    setName("");
    setFile(null);
    await made();
  });
  return html`<section aria-labelledby="capes-upload"><h2 id="capes-upload">${say("capes.upload")}</h2>
    <${Form} action=${create} label=${say("capes.upload")} onSubmit=${() => create.run()}>
      <${Field} label=${say("capes.name")} value=${name} onInput=${setName} error=${create.error} pointer="/name" maxlength="64" />
      <${Field} kind="file" label=${say("capes.file")} hint=${say("capes.fileHint")} accept="image/png" onInput=${setFile} error=${create.error} pointer="/texture/dataUrl" />
      ${preview && html`<img class="pixels" src=${preview} alt=${say("capes.preview")} width="256" />`}
      <${Submit} action=${create} disabled=${!file || !name.trim() || create.isRunning}>${say("capes.upload")}<//><//></section>`;
}

function usePreview(file) {
  const [address, setAddress] = useState(null);
  useEffect(() => {
    if (!file) { setAddress(null); return undefined; }
    const made = URL.createObjectURL(file);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return address;
}

async function base64Of(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 32_768) binary += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return btoa(binary);
}
