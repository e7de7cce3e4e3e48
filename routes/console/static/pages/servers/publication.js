// How a game server appears in the public list.
import { useState } from "preact/hooks";
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Field } from "../../ui/form.js";
import { SaveBar } from "../../ui/savebar.js";
import { Complaint, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { say } from "../../words.js";

const BLANK = { address: "", displayName: "", category: "", tags: [], hidden: false, motdOverride: null, socialLinks: [] };

/** @param {{server: string}} props its id. */
export function PublicationForm({ server }) {
  const read = useRead((signal) => api.publication(server, signal), [server]);
  return html`<section aria-label=${say("server.publication")}><${State} of=${read}>${({ publication }) => html`<${Editor} key=${publication?.id ?? "new"} server=${server} publication=${publication} changed=${(now) => read.change({ publication: now })} />`}<//></section>`;
}

function Editor({ server, publication, changed }) {
  const before = fieldsOf(publication ?? BLANK);
  const [fields, setFields] = useState(before);
  const set = (name) => (value) => setFields({ ...fields, [name]: value });
  const save = useAction(async () => {
    const { publication: now } = await api.publish(server, bodyOf(fields, publication));
    setFields(fieldsOf(now));
    changed(now);
    toast(say("publication.published"));
  });
  const withdraw = useAction(async () => {
    if (!(await ask({ title: say("publication.withdraw"), text: say("publication.withdrawText"), confirm: say("publication.withdraw"), isDanger: true }))) return;
    await api.withdraw(server);
    changed(null);
  });
  const isChanged = JSON.stringify(fields) !== JSON.stringify(before);
  return html`<div class="form">
    <${Field} label=${say("publication.name")} value=${fields.displayName} onInput=${set("displayName")} error=${save.error} pointer="/displayName" maxlength="100" />
    <${Field} label=${say("publication.address")} value=${fields.address} onInput=${set("address")} error=${save.error} pointer="/address" maxlength="255" spellcheck=${false} />
    <${Field} label=${say("publication.category")} value=${fields.category} onInput=${set("category")} error=${save.error} pointer="/category" maxlength="32" />
    <${Field} label=${say("publication.tags")} hint=${say("publication.tagsHint")} value=${fields.tags} onInput=${set("tags")} error=${save.error} pointer="/tags" />
    <${Field} label=${say("publication.motd")} value=${fields.motdOverride} onInput=${set("motdOverride")} error=${save.error} pointer="/motdOverride" maxlength="300" />
    <${Field} kind="switch" label=${say("publication.hidden")} value=${fields.hidden} onInput=${set("hidden")} />
    <${Preview} fields=${fields} />
    ${publication && html`<button type="button" onClick=${() => withdraw.run()}>${say("publication.withdraw")}</button>`}
    <${Complaint} error=${withdraw.error} />
    <${SaveBar} isChanged=${isChanged} action=${save} onSave=${() => save.run()} onDiscard=${() => setFields(before)} /></div>`;
}

const tagsOf = (text) => text.split(",").map((tag) => tag.trim()).filter(Boolean);

const fieldsOf = ({ address, displayName, category, tags, hidden, motdOverride }) =>
  ({ address, displayName, category: category ?? "", tags: tags.join(", "), hidden, motdOverride: motdOverride ?? "" });

function bodyOf(fields, publication) {
  return { ...fields, category: fields.category.trim() || null, tags: tagsOf(fields.tags), motdOverride: fields.motdOverride.trim() || null, socialLinks: publication?.socialLinks ?? [] };
}

const Preview = ({ fields }) => html`<div class="tile" aria-label=${say("publication.preview")} role="group"><h2><bdi>${fields.displayName || "–"}</bdi></h2>
  <p><code>${fields.address || "–"}</code></p><p class="dim">${fields.motdOverride}</p>
  <p>${tagsOf(fields.tags).map((tag) => html`<span class="chip plain">${tag}</span> `)}</p></div>`;
