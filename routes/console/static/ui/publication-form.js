// How a game server or a network appears in the public list.
import { publications as api } from "../api.js";
import { html } from "../html.js";
import { useAction, useRead } from "../store.js";
import { say, sayOf } from "../words.js";
import { ask } from "./dialog.js";
import { Conflict, useEdited } from "./edited.js";
import { Field } from "./form.js";
import { SaveBar } from "./savebar.js";
import { Complaint, State } from "./states.js";

const BLANK = { address: "", displayName: "", category: "", tags: [], hidden: false, motdOverride: null, socialLinks: [] };

/** @param {{target: "server"|"network", id: string}} props */
export function PublicationForm({ target, id }) {
  const read = useRead((signal) => api.read(target, id, signal), [target, id]);
  return html`<section aria-label=${say("server.publication")}><${State} of=${read}>${(kept) => html`<${Editor} key=${`${target} ${id}`} target=${target} id=${id} kept=${kept} />`}<//></section>`;
}

function Editor({ target, id, kept }) {
  const { value: { publication }, fields, set, hint, save, isChanged, discard, conflict, begin } = useEdited({
    kept,
    fieldsOf: (value) => fieldsOf(value.publication ?? BLANK),
    read: () => api.read(target, id),
    write: (wanted, etag, before) => api.publish(target, id, bodyOf(wanted, before.publication), etag),
    said: say("publication.published"),
  });
  const withdraw = useAction(async () => {
    if (!(await ask({ title: say("publication.withdraw"), text: say("publication.withdrawText"), confirm: say("publication.withdraw"), isDanger: true }))) return;
    await api.withdraw(target, id);
    begin(await api.read(target, id));
  });
  const field = (name, error = true) => ({ value: fields[name], onInput: set(name), hint: hint(name, HINTS[name] && say(HINTS[name])), ...(error && { error: save.error }) });
  return html`<div class="form"><${Conflict} of=${conflict} />
    ${publication && html`<p><span class=${`chip ${publication.discoveryState === "CONNECT" ? "good" : "warn"}`}>${sayOf("listing.state", publication.discoveryState)}</span>
      <span class=${`chip ${publication.ownershipState === "OWNED" ? "good" : "plain"}`}>${sayOf("publication.ownership", publication.ownershipState)}</span></p>`}
    <${Field} label=${say("publication.name")} ...${field("displayName")} pointer="/displayName" maxlength="100" />
    <${Field} label=${say("publication.address")} ...${field("address")} pointer="/address" maxlength="255" spellcheck=${false} />
    <${Field} label=${say("publication.category")} ...${field("category")} pointer="/category" maxlength="32" />
    <${Field} label=${say("publication.tags")} ...${field("tags")} pointer="/tags" />
    <${Field} label=${say("publication.motd")} ...${field("motdOverride")} pointer="/motdOverride" maxlength="300" />
    <${Field} kind="area" rows="2" label=${say("publication.links")} ...${field("links")} pointer="/socialLinks" spellcheck=${false} />
    <${Field} kind="switch" label=${say("publication.hidden")} ...${field("hidden", false)} />
    <${Preview} fields=${fields} />
    ${publication && html`<button type="button" onClick=${() => withdraw.run()}>${say("publication.withdraw")}</button>`}
    <${Complaint} error=${withdraw.error} />
    <${SaveBar} isChanged=${isChanged} action=${save} onSave=${() => save.run()} onDiscard=${discard} /></div>`;
}

// {field: key of what is to be known of it}
const HINTS = { tags: "publication.tagsHint", links: "publication.linksHint" };

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
  <p><code>${fields.address || "–"}</code></p><p class="dim" dir="auto">${fields.motdOverride}</p>
  <p>${tagsOf(fields.tags).map((tag) => html`<span class="chip plain">${tag}</span> `)}</p></div>`;
