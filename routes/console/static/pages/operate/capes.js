// Capes that wait for a moderator.
import { useState } from "preact/hooks";
import { capes } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Picture } from "../../ui/picture.js";
import { Complaint, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { say } from "../../words.js";
import { Queue } from "./queue.js";

export default function CapeModeration() {
  const [reason, setReason] = useState("");
  const list = useRead((signal) => capes.waiting({ status: "pending", limit: 50 }, signal));
  const judge = useAction(async (cape, status) => {
    await capes.judge(cape.id, { status, textureVersion: cape.textureVersion, ...(reason.trim() && { reason: reason.trim() }) });
    list.change((before) => ({ ...before, entries: before.entries.filter((one) => one.id !== cape.id) }));
    setReason("");
    toast(say(`capes.judged.${status}`, { name: cape.name }), { undo: async () => { await capes.judge(cape.id, { status: "pending" }); await list.reload(); } });
  });
  const erase = useAction(async (cape) => {
    if (!(await ask({ title: say("capes.remove"), text: say("capes.removeText", { name: cape.name }), confirm: say("capes.remove"), typed: cape.name, isDanger: true }))) return;
    await capes.erase(cape.id);
    await list.reload();
  });
  const verdicts = ["approved", "blocked", "private"].map((status) => ({ name: status, words: say(`capes.verdict.${status}`), run: (cape) => judge.run(cape, status) }));
  return html`<div class="page"><h1 tabindex="-1">${say("moderation.capes")}</h1><${Complaint} error=${judge.error ?? erase.error} />
    <label class="field">${say("moderation.reason")}<input value=${reason} maxlength="500" onInput=${(event) => setReason(event.currentTarget.value)} /></label>
    <${State} of=${list}>${({ entries }) => html`<${Queue} label=${say("moderation.capes")} items=${entries} keyOf=${(cape) => cape.id} verdicts=${verdicts} draw=${(cape) => html`
      <div class="judged"><${Picture} url=${cape.previewTextureUrl} alt=${say("capes.preview")} width="80" height="128" /><${Picture} class="pixels" url=${cape.textureUrl} alt=${say("moderation.texture")} width="128" />
        <div><p><bdi>${cape.name}</bdi></p><p class="dim" dir="auto">${cape.description}</p><p><a href=${`/app/operate/users/${cape.ownerId}`}><bdi>${cape.creator}</bdi></a></p><button type="button" class="link" disabled=${erase.isRunning} onClick=${() => erase.run(cape)}>${say("capes.remove")}</button></div></div>`} />`}<//></div>`;
}
