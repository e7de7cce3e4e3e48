// Who is invited to a game server, and inviting more.
import { useState } from "preact/hooks";
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useShared } from "../../live.js";
import { useAction } from "../../store.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { ofRow } from "../../ui/row.js";
import { Complaint, Empty } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { listed, say } from "../../words.js";
import { CAPABILITIES, gives, ROLES } from "./matrix.js";

const BLANK = { user: "", role: "viewer", capabilities: [], note: "" };

/** @param {{server: any, items: any[], isLocked: boolean, changed: () => unknown}} props */
export function Invites({ server, items, isLocked, changed }) {
  const friends = useShared("friends").data?.friends ?? [];
  const open = items.filter((one) => one.status === "pending");
  const roles = server.access?.role === "owner" ? [...ROLES, "owner"] : ROLES;
  return html`${open.length > 0 && html`<ul class="cards">${open.map((invite) => html`<${Invite} key=${invite.id} server=${server} invite=${invite} name=${friends.find((friend) => friend.friendId === invite.inviteeUserId)?.name} isLocked=${isLocked} changed=${changed} />`)}</ul>`}
    ${friends.length === 0 ? html`<${Empty} action=${html`<a class="button" href="/app/friends">${say("friends.find")}</a>`}>${say("members.noFriends")}<//>`
      : html`<${Make} server=${server} friends=${friends} roles=${roles} isLocked=${isLocked} invited=${changed} />`}`;
}

function Invite({ server, invite, name, isLocked, changed }) {
  const revoke = useAction(async () => {
    await api.revokeInvite(server.serverId, invite.id);
    await changed();
    const { inviteeUserId, role, capabilities, note } = invite;
    toast(say("members.inviteRevoked"), { undo: async () => { await api.invite(server.serverId, { inviteeUserId, role, capabilities, note }); await changed(); } });
  });
  return html`<li><div class="grow"><p>${name ? html`<bdi>${name}</bdi>` : html`<code>${invite.inviteeUserId}</code>`}</p>
    <p class="dim">${say(`members.role.${invite.role}`)} · ${say("members.until")} <${When} at=${invite.expiresAt} />${invite.capabilities.length > 0 && ` · ${listed(invite.capabilities.map((one) => say(`capability.${one}`)))}`}</p>
    ${invite.note && html`<p dir="auto">${invite.note}</p>`}<${Complaint} error=${revoke.error} /></div>
    <button type="button" disabled=${isLocked || revoke.isRunning} onClick=${() => revoke.run()} ...${ofRow("friends.cancel", name ?? invite.inviteeUserId)} /></li>`;
}

function Make({ server, friends, roles, isLocked, invited }) {
  const [fields, setFields] = useState(BLANK);
  const set = (name) => (value) => setFields({ ...fields, [name]: value });
  const toggle = (capability, isOn) => set("capabilities")(isOn ? [...fields.capabilities, capability] : fields.capabilities.filter((one) => one !== capability));
  const invite = useAction(async () => {
    const capabilities = fields.capabilities.filter((one) => !gives(fields.role, one));
    await api.invite(server.serverId, { inviteeUserId: fields.user, role: fields.role, capabilities, note: fields.note.trim() });
    toast(say("members.invited"));
    setFields(BLANK);
    await invited();
  });
  return html`<${Form} action=${invite} label=${say("members.invite")} onSubmit=${() => invite.run()}>
    <${Field} kind="select" label=${say("members.friend")} value=${fields.user} onInput=${set("user")} error=${invite.error} pointer="/inviteeUserId" options=${[["", "–"], ...friends.map((friend) => [friend.friendId, friend.name])]} />
    <${Field} kind="select" label=${say("members.role")} value=${fields.role} onInput=${set("role")} options=${roles.map((role) => [role, `${say(`members.role.${role}`)} – ${say(`members.roleText.${role}`)}`])} />
    <fieldset><legend>${say("members.beside")}</legend>${CAPABILITIES.map((one) => html`<${Field} key=${one} kind="switch" label=${say(`capability.${one}`)} disabled=${gives(fields.role, one)} value=${gives(fields.role, one) || fields.capabilities.includes(one)} onInput=${(isOn) => toggle(one, isOn)} />`)}</fieldset>
    <${Field} label=${say("members.note")} value=${fields.note} onInput=${set("note")} error=${invite.error} pointer="/note" maxlength="300" />
    <${Submit} action=${invite} disabled=${isLocked || !fields.user || invite.isRunning}>${say("members.invite")}<//><//>`;
}
