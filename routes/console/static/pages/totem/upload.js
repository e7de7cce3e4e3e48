// A new totem: a model from its editor, seen before it is sent.
import { useState } from "preact/hooks";
import { totems as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction } from "../../store.js";
import { base64Of } from "../../ui/base64.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { toast } from "../../ui/toast.js";
import { say } from "../../words.js";
import { Model } from "./look.js";
import { formatOf } from "./models.js";

const CONTENTS = ["sfw", "nsfw", "nsfl"];
const AGES = ["0", "16", "18", "21"];
const BLANK = { content: "sfw", age: "0", author: "", about: "" };

/** @param {{made: (totem: any) => unknown}} props told of the totem that is carried from now on. */
export function Upload({ made }) {
  const [file, setFile] = useState(null);
  const [model, setModel] = useState(null);
  const [fields, setFields] = useState(BLANK);
  const [sent, setSent] = useState(0);
  const set = (name) => (value) => setFields({ ...fields, [name]: value });
  const choose = useAction(async (chosen) => {
    setFile(null);
    setModel(null);
    if (!chosen) return;
    setModel(parsed(await chosen.text()));
    setFile(chosen);
  });
  const send = useAction(async () => {
    const data = { format: formatOf(model), data: await base64Of(file) };
    const author = { ...(fields.author.trim() && { name: fields.author.trim() }), ...(fields.about.trim() && { description: fields.about.trim() }) };
    const totem = await api.upload({ data, fileName: file.name, rating: { content: fields.content, age: Number(fields.age) }, author });
    toast(say("totem.uploaded"));
    setFile(null);
    setModel(null);
    setFields(BLANK);
    setSent(sent + 1);
    await made(totem);
  });
  return html`<section aria-labelledby="totem-upload"><h2 id="totem-upload">${say("totem.upload")}</h2>
    <${Form} action=${send} label=${say("totem.upload")} onSubmit=${() => send.run()}>
      <${Field} key=${sent} kind="file" label=${say("totem.file")} hint=${say("totem.fileHint")} accept=".json,.bbmodel,application/json" onInput=${choose.run} error=${send.error} pointer="/data/data" />
      ${choose.error && html`<p class="bad" role="alert">${choose.error.message}</p>`}
      ${model && html`<${Model} model=${model} label=${say("totem.picture", { name: file?.name ?? "" })} />`}
      <div class="row"><${Field} kind="select" label=${say("totem.content")} value=${fields.content} onInput=${set("content")} options=${CONTENTS.map((one) => [one, say(`totem.content.${one}`)])} error=${send.error} pointer="/rating/content" />
        <${Field} kind="select" label=${say("totem.age")} value=${fields.age} onInput=${set("age")} options=${AGES.map((one) => [one, one === "0" ? say("totem.anyAge") : one])} error=${send.error} pointer="/rating/age" /></div>
      <${Field} label=${say("totem.author")} hint=${say("totem.authorHint")} value=${fields.author} onInput=${set("author")} error=${send.error} pointer="/author/name" maxlength="64" />
      <${Field} kind="area" rows="2" label=${say("totem.about")} value=${fields.about} onInput=${set("about")} error=${send.error} pointer="/author/description" maxlength="500" />
      <${Submit} action=${send} disabled=${!file || send.isRunning}>${say("totem.uploadAndCarry")}<//><//></section>`;
}

function parsed(text) {
  let model = null;
  try {
    model = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    // Said below, with what is JSON but no model.
  }
  if (model === null || typeof model !== "object" || Array.isArray(model)) throw new Error(say("totem.notModel"));
  return model;
}
