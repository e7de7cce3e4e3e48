// Who else may do something on a game server, who is invited, and who may come to play.
import { useEffect, useState } from "preact/hooks";
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useShared } from "../../live.js";
import { useAction, useRead } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Face } from "../../ui/face.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { Complaint, Empty, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

const ROLES = ["viewer", "operator", "admin"];
const roleOptions = () => ROLES.map((role) => [role, `${say(`members.role.${role}`)} – ${say(`members.roleText.${role}`)}`]);

/** @param {{server: any, told: any[]}} props */
export function Members({ server, told }) {
  const members = useRead((signal) => api.members(server.serverId, signal), [server.serverId]);
  const invites = useRead((signal) => api.invites(server.serverId, signal), [server.serverId]);
  const now = told.findLast((frame) => frame.event === "members")?.data;
  // The channel tells all members with each change: the newest word of it is how they are.
  useEffect(() => { if (now && !members.isLoading) members.change({ items: now }); }, [now, members.isLoading]);
  // Whoever is a member by now has no invite that waits.
  const isMember = (userId) => members.data?.items.some((member) => member.userId === userId);
  return html`<section aria-label=${say("server.members")}>
    <${State} of=${members}>${({ items }) => html`<ul class="people cards">${items.map((member) => html`<${Member} key=${member.userId} server=${server} member=${member} />`)}</ul>`}<//></section>
    <section aria-labelledby="members-invite"><h2 id="members-invite">${say("members.invite")}</h2>
      <${Invite} server=${server} invited=${invites.reload} />
      <${State} of=${invites}>${({ items }) => html`<${Invites} server=${server} items=${items.filter((one) => one.status === "pending" && !isMember(one.inviteeUserId))} changed=${invites.reload} />`}<//></section>
    <${Policy} server=${server} told=${told} />`;
}

function Member({ server, member }) {
  const act = useAction((choose) => choose());
  const name = member.name ?? member.userId;
  const isOwner = member.role === "owner";
  const remove = async () => {
    if (await ask({ title: say("members.remove"), text: say("members.removeText", { name }), confirm: say("members.remove"), isDanger: true })) await api.removeMember(server.serverId, member.userId);
  };
  return html`<li><${Face} id=${member.userId} name=${name} /><div class="grow"><bdi>${name}</bdi><${Complaint} error=${act.error} /></div>
    ${isOwner ? html`<span class="chip plain">${say("members.role.owner")}</span>`
      : html`<select aria-label=${say("members.roleOf", { name })} value=${member.role} onChange=${(event) => act.run(() => api.setMember(server.serverId, member.userId, event.currentTarget.value))}>
          ${ROLES.map((role) => html`<option value=${role} selected=${role === member.role}>${say(`members.role.${role}`)}</option>`)}</select>
        <button type="button" onClick=${() => act.run(remove)}>${say("members.remove")}</button>`}</li>`;
}

function Invite({ server, invited }) {
  const friends = useShared("friends").data?.friends ?? [];
  const [user, setUser] = useState("");
  const [role, setRole] = useState("viewer");
  const invite = useAction(async () => {
    await api.invite(server.serverId, user, role);
    toast(say("members.invited"));
    await invited();
  });
  if (friends.length === 0) return html`<${Empty}>${say("members.noFriends")}<//>`;
  return html`<${Form} action=${invite} label=${say("members.invite")} onSubmit=${() => invite.run()}>
    <${Field} kind="select" label=${say("members.friend")} value=${user} onInput=${setUser} error=${invite.error} pointer="/inviteeUserId" options=${[["", "–"], ...friends.map((friend) => [friend.friendId, friend.name])]} />
    <${Field} kind="select" label=${say("members.role")} value=${role} onInput=${setRole} options=${roleOptions()} />
    <${Submit} action=${invite} disabled=${!user || invite.isRunning}>${say("members.invite")}<//><//>`;
}

function Invites({ server, items, changed }) {
  const revoke = useAction(async (invite) => {
    await api.revokeInvite(server.serverId, invite.id);
    toast(say("members.inviteRevoked"), { undo: async () => { await api.invite(server.serverId, invite.inviteeUserId, invite.role); await changed(); } });
    await changed();
  });
  if (items.length === 0) return null;
  return html`<ul class="cards">${items.map((invite) => html`<li key=${invite.id}><div class="grow"><code>${invite.inviteeUserId}</code>
    <p class="dim">${say(`members.role.${invite.role}`)} · ${say("members.until")} <${When} at=${invite.expiresAt} /></p></div>
    <button type="button" onClick=${() => revoke.run(invite)}>${say("friends.cancel")}</button></li>`)}</ul><${Complaint} error=${revoke.error} />`;
}

const MODES = ["public", "network", "friends_only", "invite_only", "private"];

function Policy({ server, told }) {
  const read = useRead((signal) => api.policy(server.serverId, signal), [server.serverId]);
  const now = told.findLast((frame) => frame.event === "access_policy")?.data;
  useEffect(() => { if (now && !read.isLoading) read.change(now); }, [now, read.isLoading]);
  const save = useAction(async (changes) => read.change(await api.setPolicy(server.serverId, { ...read.data, ...changes })));
  return html`<section aria-labelledby="members-policy"><h2 id="members-policy">${say("policy.title")}</h2><${State} of=${read}>${(policy) => html`
    <${Field} kind="select" label=${say("policy.mode")} value=${policy.accessMode} options=${MODES.map((mode) => [mode, say(`policy.mode.${mode}`)])} onInput=${(accessMode) => save.run({ accessMode })} />
    <${Field} kind="switch" label=${say("policy.friends")} value=${policy.inviteRequiresDirectFriend} onInput=${(inviteRequiresDirectFriend) => save.run({ inviteRequiresDirectFriend })} />
    <${Complaint} error=${save.error} />`}<//></section>`;
}
