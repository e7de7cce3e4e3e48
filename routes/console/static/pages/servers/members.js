// Who may do what on a game server, who is invited, and who may come to play.
import { useEffect } from "preact/hooks";
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useAnew, useTold } from "../../live.js";
import { useAction, useRead } from "../../store.js";
import { Field } from "../../ui/form.js";
import { Complaint, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { say } from "../../words.js";
import { Invites } from "./invites.js";
import { Matrix } from "./matrix.js";
import { lacks, Missing } from "./missing.js";

const WRITE = "server.members.write";

/** @param {{server: any, told: any[]}} props */
export function Members({ server, told }) {
  const members = useRead((signal) => api.members(server.serverId, signal), [server.serverId]);
  const invites = useRead((signal) => api.invites(server.serverId, signal), [server.serverId]);
  const isLocked = lacks(server, WRITE);
  const now = useTold(told, "members");
  // The channel tells all members with each change: the newest word of it is how they are.
  useEffect(() => { if (now && !members.isLoading) members.change({ items: now }); }, [now, members.isLoading]);
  useAnew(told, members.reload);
  useAnew(told, invites.reload);
  // Whoever is a member by now has no invite that waits.
  const isMember = (userId) => members.data?.items.some((member) => member.userId === userId);
  return html`<section aria-label=${say("server.members")}><${Missing} server=${server} capability=${WRITE} />
    <${State} of=${members}>${({ items }) => html`<${Matrix} server=${server} members=${items} isLocked=${isLocked} />`}<//></section>
    <section aria-labelledby="members-invite"><h2 id="members-invite">${say("members.invites")}</h2>
      <${State} of=${invites}>${({ items }) => html`<${Invites} server=${server} items=${items.filter((one) => !isMember(one.inviteeUserId))} isLocked=${isLocked} changed=${invites.reload} />`}<//></section>
    <${Policy} server=${server} isLocked=${isLocked} told=${told} />`;
}

const MODES = ["public", "network", "friends_only", "invite_only", "private"];

function Policy({ server, isLocked, told }) {
  const read = useRead((signal) => api.policy(server.serverId, signal), [server.serverId]);
  const now = useTold(told, "access_policy");
  useEffect(() => { if (now && !read.isLoading) read.change(now); }, [now, read.isLoading]);
  useAnew(told, read.reload);
  const set = async (policy) => read.change(await api.setPolicy(server.serverId, policy));
  const save = useAction(async (changes) => {
    const before = read.data;
    await set({ ...before, ...changes });
    toast(say("savebar.saved"), { undo: () => set(before) });
  });
  return html`<section aria-labelledby="members-policy"><h2 id="members-policy">${say("policy.title")}</h2><${State} of=${read}>${(policy) => html`
    <${Field} kind="select" label=${say("policy.mode")} hint=${say(`policy.modeText.${policy.accessMode}`)} disabled=${isLocked} value=${policy.accessMode} options=${MODES.map((mode) => [mode, say(`policy.mode.${mode}`)])} onInput=${(accessMode) => save.run({ accessMode })} />
    <${Field} kind="switch" label=${say("policy.friends")} disabled=${isLocked} value=${policy.inviteRequiresDirectFriend} onInput=${(inviteRequiresDirectFriend) => save.run({ inviteRequiresDirectFriend })} />
    <${Complaint} error=${save.error} />`}<//></section>`;
}
