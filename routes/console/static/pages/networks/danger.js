// What cannot be undone.
import { networks as api } from "../../api.js";
import { html } from "../../html.js";
import { go, place } from "../../router.js";
import { useAction } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Complaint } from "../../ui/states.js";
import { say } from "../../words.js";

/** @param {{network: any, changed: () => unknown}} props */
export function Danger({ network: { networkId, name }, changed }) {
  const remove = useAction(async () => {
    if (!(await ask({ title: say("networks.remove"), text: say("networks.removeText", { name }), confirm: say("networks.remove"), typed: name, isDanger: true }))) return;
    await api.remove(networkId);
    if (place.value.path.includes(networkId)) go("/app/networks");
    await changed();
  });
  return html`<section aria-label=${say("networks.tab.danger")} class="form">
    <p>${say("networks.removeText", { name })}</p><button type="button" class="danger" disabled=${remove.isRunning} onClick=${() => remove.run()}>${say("networks.remove")}</button>
    <${Complaint} error=${remove.error} /></section>`;
}
