// Launcher profiles that one has shared: whoever has the code can play with the same.
import { useState } from "preact/hooks";
import { shares as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useList } from "../../store.js";
import { Id } from "../../ui/chip.js";
import { ask } from "../../ui/dialog.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { ofRow } from "../../ui/row.js";
import { Complaint, Empty, More, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

export function Shares() {
  const list = useList((query, signal) => api.list(query, signal));
  const end = useAction(async (share) => {
    if (!(await ask({ title: say("shares.end"), text: say("shares.endText", { name: share.name }), confirm: say("shares.end"), isDanger: true }))) return;
    await api.end(share.code);
    await list.reload();
  });
  return html`<section aria-labelledby="profile-shares"><h2 id="profile-shares">${say("shares.title")}</h2>
    <${State} of=${list}>${({ items }) => (items.length === 0 ? html`<${Empty}>${say("shares.none")}<//>` : html`<ul class="cards">${items.map((share) => html`<li key=${share.code}><div class="grow"><p><bdi>${share.name}</bdi> <${Id} id=${share.code} what=${say("shares.code")} /></p>
      <p class="dim">${say("grants.until")} <${When} at=${share.expiresAt} /></p></div><button type="button" disabled=${end.isRunning} onClick=${() => end.run(share)} ...${ofRow("shares.end", share.name)} /></li>`)}</ul>`)}<//>
    <${More} of=${list} />
    <${Complaint} error=${end.error} /><${Make} made=${list.reload} /></section>`;
}

function Make({ made }) {
  const [name, setName] = useState("");
  const [file, setFile] = useState(null);
  const [sent, setSent] = useState(0);
  const create = useAction(async () => {
    await api.create({ name: name.trim(), manifest: parsed(await file.text()) });
    toast(say("shares.made"));
    setName("");
    setFile(null);
    setSent(sent + 1);
    await made();
  });
  return html`<details><summary>${say("shares.make")}</summary><${Form} action=${create} label=${say("shares.make")} onSubmit=${() => create.run()}>
    <${Field} label=${say("shares.name")} value=${name} onInput=${setName} error=${create.error} pointer="/name" maxlength="100" />
    <${Field} key=${sent} kind="file" label=${say("shares.manifest")} hint=${say("shares.manifestHint")} accept="application/json,.json" onInput=${setFile} error=${create.error} pointer="/manifest" />
    <${Submit} action=${create} disabled=${!name.trim() || !file || create.isRunning}>${say("shares.make")}<//><//></details>`;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(say("shares.notJson"));
  }
}
