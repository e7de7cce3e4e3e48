// Oneself: name and rights, privacy, and where one is signed in.
import { useState } from "preact/hooks";
import { profile as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { Id } from "../../ui/chip.js";
import { Field } from "../../ui/form.js";
import { SaveBar } from "../../ui/savebar.js";
import { State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { say } from "../../words.js";
import { Identities } from "./identities.js";
import { Sessions } from "./sessions.js";

export default function Profile() {
  const own = useRead((signal) => api.own(signal));
  return html`<div class="page"><h1 tabindex="-1">${say("profile.title")}</h1>
    <${State} of=${own}>${(self) => html`<section><h2>${self.name}</h2>
      <p>${self.highestRoleLabel} · <${Id} id=${self.userId} what=${say("profile.id")} /></p>
      <details><summary>${say("profile.rights", { count: self.permissions.length })}</summary><ul class="columns">${self.permissions.map((node) => html`<li><code>${node}</code></li>`)}</ul></details></section>`}<//>
    <${Privacy} />
    <${Sessions} /><${Identities} />
  </div>`;
}

function Privacy() {
  const read = useRead((signal) => api.settings(signal));
  return html`<section aria-labelledby="profile-privacy"><h2 id="profile-privacy">${say("profile.privacy")}</h2>
    <${State} of=${read}>${(settings) => html`<${PrivacyForm} settings=${settings} saved=${read.change} />`}<//></section>`;
}

function PrivacyForm({ settings, saved }) {
  const before = { allowFriendRequests: settings.allowFriendRequests, serverListVisibility: settings.privacy.serverListVisibility };
  const [fields, setFields] = useState(before);
  const isChanged = JSON.stringify(fields) !== JSON.stringify(before);
  const save = useAction(async () => {
    saved(await api.change({ allowFriendRequests: fields.allowFriendRequests, privacy: { serverListVisibility: fields.serverListVisibility } }));
    toast(say("savebar.saved"));
  });
  const visible = ["PUBLIC", "FRIENDS", "PRIVATE"].map((one) => [one, say(`profile.visible.${one}`)]);
  return html`<${Field} kind="switch" label=${say("profile.requests")} value=${fields.allowFriendRequests} onInput=${(value) => setFields({ ...fields, allowFriendRequests: value })} />
    <${Field} kind="select" label=${say("profile.servers")} options=${visible} value=${fields.serverListVisibility} onInput=${(value) => setFields({ ...fields, serverListVisibility: value })} />
    <${SaveBar} isChanged=${isChanged} action=${save} onSave=${() => save.run()} onDiscard=${() => setFields(before)} />`;
}
