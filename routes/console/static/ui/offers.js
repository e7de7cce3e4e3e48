// Invites to game servers, for whoever is invited: what is offered, by whom, and the answer.
import { offers as api } from "../api.js";
import { html } from "../html.js";
import { useShared } from "../live.js";
import { go, place } from "../router.js";
import { useAction, useRead } from "../store.js";
import { ask } from "./dialog.js";
import { ofRow } from "./row.js";
import { Complaint } from "./states.js";
import { toast } from "./toast.js";
import { When } from "./when.js";
import { say } from "../words.js";

/** The open invites, read again when a notification comes. */
export function useOffers() {
  const newest = useShared("notifications").data?.items.find((one) => one.kind === "server_invite")?.id ?? null;
  return useRead((signal) => api.list(signal), [newest]);
}

/** @param {{offer: any, answered: () => unknown}} props one invite, as an item of a list. */
export const Offer = ({ offer, answered }) => html`<li><div class="grow"><p><bdi>${offer.serverName}</bdi></p>
    <p class="dim">${say(`offers.role.${offer.role}`, { name: offer.inviterName ?? say("audit.service") })} · ${say("members.until")} <${When} at=${offer.expiresAt} /></p>
    ${offer.note && html`<p dir="auto">${offer.note}</p>`}</div>
  <${Answer} offer=${offer} answered=${answered} /></li>`;

/** The two buttons that answer an invite. */
export function Answer({ offer, answered }) {
  const act = useAction(async (choose) => {
    await choose();
    await answered();
  });
  const accept = async () => {
    if (offer.role === "owner" && !(await ask({ title: say("offers.own"), text: say("offers.ownText", { name: offer.serverName }), confirm: say("friends.accept") }))) return;
    const { path: from } = place.value;
    await api.accept(offer.id);
    toast(say("offers.accepted", { name: offer.serverName }));
    go(`/app/servers/${offer.serverId}`, { from });
  };
  const decline = async () => {
    await api.decline(offer.id);
    toast(say("offers.declined", { name: offer.serverName }));
  };
  return html`<${Complaint} error=${act.error} /><div class="buttons start"><button type="button" class="primary" disabled=${act.isRunning} onClick=${() => act.run(accept)} ...${ofRow("friends.accept", offer.serverName)} />
    <button type="button" disabled=${act.isRunning} onClick=${() => act.run(decline)} ...${ofRow("friends.decline", offer.serverName)} /></div>`;
}
