// What cannot be undone, or locks somebody out.
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { go, place } from "../../router.js";
import { useAction } from "../../store.js";
import { ask, showSecret } from "../../ui/dialog.js";
import { Complaint } from "../../ui/states.js";
import { say } from "../../words.js";

/** @param {{server: any}} props */
export function Danger({ server }) {
  const rotate = useAction(async () => {
    if (!(await ask({ title: say("danger.rotate"), text: say("danger.rotateText"), confirm: say("danger.rotate") }))) return;
    const { serverSecret } = await api.rotateSecret(server.serverId);
    await showSecret({ title: say("danger.secret"), text: say("danger.secretText"), secret: serverSecret });
  });
  const remove = useAction(async () => {
    if (!(await ask({ title: say("danger.remove"), text: say("danger.removeText", { name: server.name }), confirm: say("danger.remove"), typed: server.name, isDanger: true }))) return;
    await api.remove(server.serverId);
    if (place.value.path.includes(server.serverId)) go("/app/servers");
  });
  const isOthers = Boolean(server.access) && server.access.role !== "owner";
  return html`<section aria-label=${say("server.danger")} class="form">
    ${isOthers && html`<p role="status">${say("server.ownerOnly")}</p>`}
    <p>${say("danger.rotateText")}</p><button type="button" disabled=${isOthers || rotate.isRunning} onClick=${() => rotate.run()}>${say("danger.rotate")}</button>
    <p>${say("danger.removeText", { name: server.name })}</p><button type="button" class="danger" disabled=${isOthers || remove.isRunning} onClick=${() => remove.run()}>${say("danger.remove")}</button>
    <${Complaint} error=${rotate.error ?? remove.error} /></section>`;
}
