// A poll: who leads, what one has chosen, and choosing.
import { html } from "../html.js";
import { useAction } from "../store.js";
import { say } from "../words.js";
import { Complaint } from "./states.js";
import { When } from "./when.js";

/**
 * @param {{poll: any, name: string, vote: (optionIds: string[]) => Promise<unknown>, close?: (() => Promise<unknown>)|null}}
 *   props `name` is another for each poll of a page; `close` where one may end it.
 */
export function Poll({ poll, name, vote, close = null }) {
  const choose = useAction((optionId) => {
    const chosen = poll.options.filter((option) => option.selected).map((option) => option.id);
    const isChosen = chosen.includes(optionId);
    const others = poll.multiple ? chosen.filter((one) => one !== optionId) : [];
    return vote(isChosen ? others : [...others, optionId]);
  });
  const end = useAction(() => close());
  const most = Math.max(1, poll.totalVotes);
  return html`<fieldset class="poll" disabled=${poll.closed}>
    <legend><bdi>${poll.question}</bdi></legend>
    ${poll.options.map((option) => html`<label key=${option.id} class="option">
      <input type=${poll.multiple ? "checkbox" : "radio"} name=${`poll-${name}`} checked=${option.selected} disabled=${choose.isRunning}
        onClick=${() => choose.run(option.id)} />
      <bdi>${option.label}</bdi>
      <meter max=${most} value=${option.votes} aria-hidden="true"></meter>
      <span class="num">${say("poll.votes", { count: option.votes })}</span>
    </label>`)}
    <p class="dim">${poll.closed ? say("poll.closed") : poll.expiresAt ? html`${say("poll.ends")} <${When} at=${poll.expiresAt} />` : say("poll.open")}
      ${close && !poll.closed && html` <button type="button" class="link" onClick=${() => end.run()}>${say("poll.close")}</button>`}</p>
    <${Complaint} error=${choose.error ?? end.error} />
  </fieldset>`;
}
