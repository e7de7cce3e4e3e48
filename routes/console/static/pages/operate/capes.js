// Capes that wait for a moderator.
import { capes } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Picture } from "../../ui/picture.js";
import { ofRow } from "../../ui/row.js";
import { Complaint, State } from "../../ui/states.js";
import { say } from "../../words.js";
import { Queue, useArrivals, without } from "./queue.js";

const VERDICTS = ["approved", "blocked", "private"];
const PAGE = 50;
const TOLD = { number: "capes", newest: "newestCapeId" };

export default function CapeModeration() {
  const list = useRead((signal) => capes.waiting({ status: "pending", limit: PAGE }, signal));
  useArrivals(TOLD, list.data?.entries ?? null, list.data?.entries.length < PAGE, list.reload);
  const changed = async (judged, isUndone) => {
    const left = without(list.data.entries, judged);
    if (isUndone || left.length === 0) await list.reload(); // more may wait than are shown at once
    else list.change((before) => ({ ...before, entries: without(before.entries, judged) }));
  };
  const verdicts = VERDICTS.map((status) => ({
    name: status,
    words: say(`capes.verdict.${status}`),
    said: (cape) => say(`capes.judged.${status}`, { name: cape.name }),
    run: (cape, reason) => capes.judge(cape.id, { status, textureVersion: cape.textureVersion, ...(reason && { reason }) }),
    undo: (cape) => capes.judge(cape.id, { status: "pending" }),
  }));
  return html`<div class="page"><h1 tabindex="-1">${say("moderation.capes")}</h1>
    <${State} of=${list}>${({ entries }) => html`<${Queue} label=${say("moderation.capes")} items=${entries} keyOf=${(cape) => cape.id} nameOf=${(cape) => cape.name} verdicts=${verdicts} reasonWords=${say("moderation.reason")} changed=${changed} draw=${(cape) => html`<${Cape} cape=${cape} erased=${() => changed([cape], false)} />`} />`}<//></div>`;
}

function Cape({ cape, erased }) {
  const erase = useAction(async () => {
    if (!(await ask({ title: say("capes.remove"), text: say("capes.removeText", { name: cape.name }), confirm: say("capes.remove"), typed: cape.name, isDanger: true }))) return;
    await capes.erase(cape.id);
    erased();
  });
  return html`<div class="judged"><${Picture} url=${cape.previewTextureUrl} alt=${say("capes.preview")} width="80" height="128" /><${Picture} class="pixels" url=${cape.textureUrl} alt=${say("moderation.texture")} width="128" />
    <div><p><bdi>${cape.name}</bdi></p><p class="dim" dir="auto">${cape.description}</p><p><a href=${`/app/operate/users/${cape.ownerId}`}><bdi>${cape.creator}</bdi></a></p><button type="button" class="link" disabled=${erase.isRunning} onClick=${erase.run} ...${ofRow("capes.remove", cape.name)} /><${Complaint} error=${erase.error} /></div></div>`;
}
