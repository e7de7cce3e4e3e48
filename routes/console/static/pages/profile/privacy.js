// Who may ask, invite and look.
import { useState } from "preact/hooks";
import { profile as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { Field } from "../../ui/form.js";
import { SaveBar } from "../../ui/savebar.js";
import { State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

export function Privacy() {
  const read = useRead((signal) => api.settings(signal));
  return html`<section aria-labelledby="profile-privacy"><h2 id="profile-privacy">${say("profile.privacy")}</h2>
    <${State} of=${read}>${(settings) => html`<${Editor} settings=${settings} saved=${read.change} /><${Told} settings=${settings} />`}<//></section>`;
}

function Editor({ settings, saved }) {
  const { serverListVisibility, groupInvites } = settings.privacy;
  const before = { allowFriendRequests: settings.allowFriendRequests, serverListVisibility, groupInvites };
  const [fields, setFields] = useState(before);
  const set = (name) => (value) => setFields({ ...fields, [name]: value });
  const isChanged = JSON.stringify(fields) !== JSON.stringify(before);
  const save = useAction(async () => {
    const { allowFriendRequests, ...privacy } = fields;
    saved(await api.change({ allowFriendRequests, privacy }));
    toast(say("savebar.saved"));
  });
  const choices = (family, values) => values.map((one) => [one, say(`profile.${family}.${one}`)]);
  return html`<div class="form"><${Field} kind="switch" label=${say("profile.requests")} value=${fields.allowFriendRequests} onInput=${set("allowFriendRequests")} />
    <${Field} kind="select" label=${say("profile.groups")} options=${choices("invites", ["EVERYONE", "FRIENDS", "NOBODY"])} value=${fields.groupInvites} onInput=${set("groupInvites")} />
    <${Field} kind="select" label=${say("profile.servers")} options=${choices("visible", ["PUBLIC", "FRIENDS", "PRIVATE"])} value=${fields.serverListVisibility} onInput=${set("serverListVisibility")} />
    <${SaveBar} isChanged=${isChanged} action=${save} onSave=${() => save.run()} onDiscard=${() => setFields(before)} /></div>`;
}

// What other services say about one; it is linked there, not here.
function Told({ settings: { supporter, discord, patreon } }) {
  if (!supporter.active && !discord.linked && !patreon.linked) return null;
  return html`<dl class="facts">${supporter.active && html`<dt>${say("profile.supporter")}</dt><dd>${supporter.tier ?? ""} ${supporter.since && html`${say("sessions.since")} <${When} at=${supporter.since} />`}</dd>`}
    ${discord.linked && html`<dt>Discord</dt><dd><bdi>${discord.username ?? ""}</bdi></dd>`}
    ${patreon.linked && html`<dt>Patreon</dt><dd>${patreon.tier ?? ""}</dd>`}</dl>`;
}
