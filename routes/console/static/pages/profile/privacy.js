// Who may ask, invite and look.
import { profile as api } from "../../api.js";
import { html } from "../../html.js";
import { useRead } from "../../store.js";
import { Conflict, useEdited } from "../../ui/edited.js";
import { Field } from "../../ui/form.js";
import { SaveBar } from "../../ui/savebar.js";
import { State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

export function Privacy() {
  const read = useRead((signal) => api.settings(signal));
  return html`<section aria-labelledby="profile-privacy"><h2 id="profile-privacy">${say("profile.privacy")}</h2>
    <${State} of=${read}>${(kept) => html`<${Editor} kept=${kept} /><${Told} settings=${kept.value} />`}<//></section>`;
}

const fieldsOf = ({ allowFriendRequests, privacy: { serverListVisibility, groupInvites } }) => ({ allowFriendRequests, serverListVisibility, groupInvites });

function Editor({ kept }) {
  const { fields, set, hint, save, isChanged, discard, conflict } = useEdited({
    kept, fieldsOf, read: api.settings, write: ({ allowFriendRequests, ...privacy }, etag) => api.change({ allowFriendRequests, privacy }, etag),
  });
  const choices = (family, values) => values.map((one) => [one, say(`profile.${family}.${one}`)]);
  return html`<div class="form"><${Conflict} of=${conflict} />
    <${Field} kind="switch" label=${say("profile.requests")} hint=${hint("allowFriendRequests")} value=${fields.allowFriendRequests} onInput=${set("allowFriendRequests")} />
    <${Field} kind="select" label=${say("profile.groups")} hint=${hint("groupInvites", null, (one) => say(`profile.invites.${one}`))} options=${choices("invites", ["EVERYONE", "FRIENDS", "NOBODY"])} value=${fields.groupInvites} onInput=${set("groupInvites")} />
    <${Field} kind="select" label=${say("profile.servers")} hint=${hint("serverListVisibility", null, (one) => say(`profile.visible.${one}`))} options=${choices("visible", ["PUBLIC", "FRIENDS", "PRIVATE"])} value=${fields.serverListVisibility} onInput=${set("serverListVisibility")} />
    <${SaveBar} isChanged=${isChanged} action=${save} onSave=${() => save.run()} onDiscard=${discard} /></div>`;
}

// What other services say about one; it is linked there, not here.
function Told({ settings: { supporter, discord, patreon } }) {
  if (!supporter.active && !discord.linked && !patreon.linked) return null;
  return html`<dl class="facts">${supporter.active && html`<dt>${say("profile.supporter")}</dt><dd><bdi>${supporter.tier}</bdi> ${supporter.since && html`${say("sessions.since")} <${When} at=${supporter.since} />`}</dd>`}
    ${discord.linked && html`<dt>Discord</dt><dd><bdi>${discord.username ?? ""}</bdi></dd>`}
    ${patreon.linked && html`<dt>Patreon</dt><dd><bdi>${patreon.tier}</bdi></dd>`}</dl>`;
}
