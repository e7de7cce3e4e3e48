// How a game server or a network appears in the public list.
import { useState } from "preact/hooks";
import { publications as api } from "../api.js";
import { html } from "../html.js";
import { useAction, useRead } from "../store.js";
import { say, sayOf } from "../words.js";
import { ask } from "./dialog.js";
import { Field } from "./form.js";
import { SaveBar } from "./savebar.js";
import { Complaint, State } from "./states.js";
import { toast } from "./toast.js";

const BLANK = { address: "", displayName: "", category: "", tags: [], hidden: false, motdOverride: null, socialLinks: [] };

/** @param {{target: "server"|"network", id: string}} props */
export function PublicationForm({ target, id }) {
  const read = useRead((signal) => api.read(target, id, signal), [target, id]);
  return html`<section aria-label=${say("server.publication")}><${State} of=${read}>${({ publication }) => html`<${Editor} key=${publication?.id ?? "new"} target=${target} id=${id} publication=${publication} changed=${(now) => read.change({ publication: now })} />`}<//></section>`;
}

function Editor({ target, id, publication, changed }) {
  const before = fieldsOf(publication ?? BLANK);
  const [fields, setFields] = useState(before);
  const set = (name) => (value) => setFields({ ...fields, [name]: value });
  const save = useAction(async () => {
    const { publication: now } = await api.publish(target, id, bodyOf(fields, publication));
    setFields(fieldsOf(now));
    changed(now);
    toast(say("publication.published"));
  });
  const withdraw = useAction(async () => {
    if (!(await ask({ title: say("publication.withdraw"), text: say("publication.withdrawText"), confirm: say("publication.withdraw"), isDanger: true }))) return;
    await api.withdraw(target, id);
    changed(null);
  });
  const isChanged = JSON.stringify(fields) !== JSON.stringify(before);
  return html`<div class="form">
    ${publication && html`<p><span class=${`chip ${publication.discoveryState === "CONNECT" ? "good" : "warn"}`}>${sayOf("listing.state", publication.discoveryState)}</span>
      <span class=${`chip ${publication.ownershipState === "OWNED" ? "good" : "plain"}`}>${sayOf("publication.ownership", publication.ownershipState)}</span></p>`}
    <${Field} label=${say("publication.name")} value=${fields.displayName} onInput=${set("displayName")} error=${save.error} pointer="/displayName" maxlength="100" />
    <${Field} label=${say("publication.address")} value=${fields.address} onInput=${set("address")} error=${save.error} pointer="/address" maxlength="255" spellcheck=${false} />
    <${Field} label=${say("publication.category")} value=${fields.category} onInput=${set("category")} error=${save.error} pointer="/category" maxlength="32" />
    <${Field} label=${say("publication.tags")} hint=${say("publication.tagsHint")} value=${fields.tags} onInput=${set("tags")} error=${save.error} pointer="/tags" />
    <${Field} label=${say("publication.motd")} value=${fields.motdOverride} onInput=${set("motdOverride")} error=${save.error} pointer="/motdOverride" maxlength="300" />
    <${Field} kind="area" rows="2" label=${say("publication.links")} hint=${say("publication.linksHint")} value=${fields.links} onInput=${set("links")} error=${save.error} pointer="/socialLinks" spellcheck=${false} />
    <${Field} kind="switch" label=${say("publication.hidden")} value=${fields.hidden} onInput=${set("hidden")} />
    <${Preview} fields=${fields} />
    ${publication && html`<button type="button" onClick=${() => withdraw.run()}>${say("publication.withdraw")}</button>`}
    <${Complaint} error=${withdraw.error} />
    <${SaveBar} isChanged=${isChanged} action=${save} onSave=${() => save.run()} onDiscard=${() => setFields(before)} /></div>`;
}

const tagsOf = (text) => text.split(",").map((tag) => tag.trim()).filter(Boolean);

const fieldsOf = ({ address, displayName, category, tags, hidden, motdOverride, socialLinks }) =>
  ({ address, displayName, category: category ?? "", tags: tags.join(", "), hidden, motdOverride: motdOverride ?? "", links: socialLinks.map(addressOf).join("\n") });

const addressOf = (link) => (typeof link === "string" ? link : link.url ?? JSON.stringify(link));

// A link may have more than its address; one that is still there keeps what it has.
function linesOf(text, publication) {
  const known = new Map((publication?.socialLinks ?? []).map((link) => [addressOf(link), link]));
  return text.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => known.get(line) ?? line);
}

function bodyOf({ links, ...fields }, publication) {
  return { ...fields, category: fields.category.trim() || null, tags: tagsOf(fields.tags), motdOverride: fields.motdOverride.trim() || null, socialLinks: linesOf(links, publication) };
}

const Preview = ({ fields }) => html`<div class="tile" aria-label=${say("publication.preview")} role="group"><h2><bdi>${fields.displayName || "–"}</bdi></h2>
  <p><code>${fields.address || "–"}</code></p><p class="dim">${fields.motdOverride}</p>
  <p>${tagsOf(fields.tags).map((tag) => html`<span class="chip plain">${tag}</span> `)}</p></div>`;
