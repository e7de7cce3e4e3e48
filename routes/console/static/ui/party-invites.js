// Invites to parties, answered in place.
import { party as api } from "../api.js";
import { html } from "../html.js";
import { go, place } from "../router.js";
import { useAction } from "../store.js";
import { say } from "../words.js";
import { Face } from "./face.js";
import { ofRow } from "./row.js";
import { Complaint } from "./states.js";
import { When } from "./when.js";

/** @param {{invites: any[]}} props those that one has got; they become items of a list. */
export const PartyInvites = ({ invites }) => invites.map((invite) => html`<${Invite} key=${invite.partyId} invite=${invite} />`);

function Invite({ invite }) {
  const act = useAction((choose) => choose());
  const join = async () => {
    const { path: from } = place.value;
    await api.accept(invite.partyId);
    go("/app/party", { from });
  };
  return html`<li><${Face} id=${invite.senderId} name=${invite.senderName} />
    <div class="grow"><bdi>${invite.senderName}</bdi><p class="dim">${say("party.invitesYou")} · <${When} at=${invite.createdAt} /></p><${Complaint} error=${act.error} /></div>
    <button type="button" class="primary" disabled=${act.isRunning} onClick=${() => act.run(join)} ...${ofRow("party.join", invite.senderName)} />
    <button type="button" disabled=${act.isRunning} onClick=${() => act.run(() => api.decline(invite.partyId))} ...${ofRow("friends.decline", invite.senderName)} /></li>`;
}
