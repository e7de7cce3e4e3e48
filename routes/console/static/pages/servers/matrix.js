// Who belongs to a game server, and what each may do there: the role's part, and what they were given beside it.
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { go, place } from "../../router.js";
import { me } from "../../session.js";
import { useAction } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Complaint } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { say } from "../../words.js";

/** Roles that can be given, and all capabilities, in the order in which they are shown. */
export const ROLES = ["viewer", "operator", "admin"];
export const CAPABILITIES = [
  "server.settings.read", "server.settings.write", "server.commands.read", "server.commands.write", "server.members.read", "server.members.write", "server.publication.write",
];

const VIEWER = CAPABILITIES.filter((one) => one.endsWith(".read"));
const OF_ROLE = { viewer: VIEWER, operator: [...VIEWER, "server.settings.write", "server.commands.write"], admin: CAPABILITIES, owner: CAPABILITIES };

/** Whether a role has a capability by itself. */
export const gives = (role, capability) => OF_ROLE[role].includes(capability);

/** Role and capabilities of somebody among a server's members, as a list of one's own servers says it; null of others. */
export function accessAmong(members, userId) {
  const found = members?.find((member) => member.userId === userId);
  return found ? { role: found.role, capabilities: CAPABILITIES.filter((one) => gives(found.role, one) || found.capabilities.includes(one)) } : null;
}

/** @param {{server: any, members: any[], isLocked: boolean}} props `isLocked` where nothing may be changed. */
export function Matrix({ server, members, isLocked }) {
  return html`<div class="scrolled" role="region" aria-label=${say("members.matrix")} tabindex="0"><table class="matrix">
    <thead><tr><th scope="col">${say("members.member")}</th><th scope="col">${say("members.role")}</th>
      ${CAPABILITIES.map((one) => html`<th key=${one} scope="col">${say(`capability.${one}`)}</th>`)}<td></td></tr></thead>
    <tbody>${members.map((member) => html`<${Row} key=${member.userId} server=${server} member=${member} isLocked=${isLocked} />`)}</tbody></table></div>`;
}

function Row({ server, member, isLocked }) {
  const act = useAction((choose) => choose());
  const name = member.name || member.userId;
  const isOwner = member.role === "owner";
  const isMine = member.userId === me.value.id;
  const put = ({ role, capabilities }) => api.setMember(server.serverId, member.userId, { role, capabilities: capabilities.filter((one) => !gives(role, one)) });
  const change = (changes) => act.run(async () => {
    await put({ ...member, ...changes });
    toast(say("members.changed", { name }), { undo: () => put(member) });
  });
  const toggle = (capability, isOn) => change({ capabilities: isOn ? [...member.capabilities, capability] : member.capabilities.filter((one) => one !== capability) });
  const remove = async () => {
    const [title, text] = isMine ? ["members.leave", "members.leaveText"] : ["members.remove", "members.removeText"];
    if (!(await ask({ title: say(title), text: say(text, { name }), confirm: say(title), isDanger: true }))) return;
    await api.removeMember(server.serverId, member.userId);
    if (isMine && place.value.path.includes(server.serverId)) go("/app/servers");
  };
  return html`<tr><th scope="row"><bdi>${name}</bdi><${Complaint} error=${act.error} /></th>
    <td>${isOwner ? say("members.role.owner") : html`<select aria-label=${say("members.roleOf", { name })} disabled=${isLocked || act.isRunning} value=${member.role} onChange=${(event) => change({ role: event.currentTarget.value })}>
      ${ROLES.map((role) => html`<option value=${role} selected=${role === member.role}>${say(`members.role.${role}`)}</option>`)}</select>`}</td>
    ${CAPABILITIES.map((one) => html`<td key=${one} class="mark"><input type="checkbox" aria-label=${say("members.may", { name, what: say(`capability.${one}`) })} checked=${gives(member.role, one) || member.capabilities.includes(one)}
      disabled=${isLocked || gives(member.role, one) || act.isRunning} onChange=${(event) => toggle(one, event.currentTarget.checked)} /></td>`)}
    <td>${!isOwner && (isMine || !isLocked) && html`<button type="button" disabled=${act.isRunning} aria-label=${say(isMine ? "members.leave" : "members.removeOne", { name })} onClick=${() => act.run(remove)}>${say(isMine ? "members.leave" : "members.remove")}</button>`}</td></tr>`;
}
