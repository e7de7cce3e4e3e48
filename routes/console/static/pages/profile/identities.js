// Accounts at other issuers that one signs in with.
import { identities as api, issuers } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { ofRow } from "../../ui/row.js";
import { Complaint, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

export function Identities() {
  const offered = useRead(() => issuers());
  const list = useRead((signal) => api.list(signal));
  const link = useAction(async (issuer) => location.assign((await api.link(issuer)).url));
  const remove = useAction(async (identity) => {
    const name = identity.issuer ?? identity.name;
    if (!(await ask({ title: say("identities.remove"), text: say("identities.removeText", { name }), confirm: say("identities.remove"), isDanger: true }))) return;
    await api.remove(identity.id);
    await list.reload();
  });
  if (!offered.data?.items.length && !list.data?.items.length) return null;
  return html`<section aria-labelledby="profile-identities"><h2 id="profile-identities">${say("identities.title")}</h2>
    <${State} of=${list}>${({ items }) => html`<ul class="cards">${items.map((identity) => html`<li key=${identity.id}><div class="grow"><p><bdi>${identity.issuer}</bdi> <bdi>${identity.name}</bdi></p>
      <p class="dim">${say("sessions.last")} <${When} at=${identity.lastUsedAt} /></p></div>
      <button type="button" disabled=${remove.isRunning} onClick=${() => remove.run(identity)} ...${ofRow("identities.remove", identity.issuer ?? identity.name)} /></li>`)}</ul>`}<//>
    <div class="buttons start">${(offered.data?.items ?? []).map((issuer) => html`<button key=${issuer.id} type="button" disabled=${link.isRunning} onClick=${() => link.run(issuer.id)}>${say("identities.link", { name: issuer.name })}</button>`)}</div>
    <${Complaint} error=${link.error ?? remove.error} /></section>`;
}
