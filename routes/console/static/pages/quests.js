// The quests of this day.
import { quests as api } from "../api.js";
import { html } from "../html.js";
import { useAction, useRead } from "../store.js";
import { ofRow } from "../ui/row.js";
import { Complaint, State } from "../ui/states.js";
import { When } from "../ui/when.js";
import { number, say, sayOf } from "../words.js";

export default function Quests() {
  const read = useRead((signal) => api.list(signal));
  const reroll = useAction(async (quest) => read.change(await api.reroll(quest.id)));
  return html`<div class="page"><h1 tabindex="-1">${say("quests.title")}</h1><${Complaint} error=${reroll.error} />
    <${State} of=${read}>${({ quests, rerollsLeft }) => html`<ul class="cards">${quests.map((quest) => html`<li key=${quest.id}><div class="grow"><p>${sayOf("quests.kind", quest.kind)}</p>
        <meter min="0" max=${quest.goal} value=${quest.progress} aria-label=${say("quests.progress")}></meter>
        <p class="dim">${say("quests.of", { progress: quest.progress, goal: number(quest.goal) })} · ${say("quests.reward", { xp: quest.reward.xp })} · ${say("grants.until")} <${When} at=${quest.expiresAt} /></p></div>
      ${quest.completedAt ? html`<span class="chip good">${say("quests.done")}</span>`
        : html`<button type="button" disabled=${rerollsLeft === 0 || reroll.isRunning} onClick=${() => reroll.run(quest)} ...${ofRow("quests.reroll", sayOf("quests.kind", quest.kind))} />`}</li>`)}</ul>
      <p class="dim">${say("quests.rerolls", { count: rerollsLeft })}</p>`}<//></div>`;
}
