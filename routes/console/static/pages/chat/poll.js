// A poll in a message: who leads, what one has chosen, and choosing.
import { chat } from "../../api.js";
import { html } from "../../html.js";
import { useAction } from "../../store.js";
import { Complaint } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

/** @param {{message: any, isMine: boolean, changed: (message: any) => void}} props `changed` takes the answer of a vote. */
export function Poll({ message, isMine, changed }) {
  const { poll, id, conversationId } = message;
  const vote = useAction(async (optionId) => {
    const chosen = poll.options.filter((option) => option.selected).map((option) => option.id);
    const isChosen = chosen.includes(optionId);
    const others = poll.multiple ? chosen.filter((one) => one !== optionId) : [];
    changed(await chat.vote(conversationId, id, isChosen ? others : [...others, optionId]));
  });
  const close = useAction(async () => changed(await chat.closePoll(conversationId, id)));
  const most = Math.max(1, poll.totalVotes);
  return html`<fieldset class="poll" disabled=${poll.closed}>
    <legend><bdi>${poll.question}</bdi></legend>
    ${poll.options.map((option) => html`<label key=${option.id} class="option">
      <input type=${poll.multiple ? "checkbox" : "radio"} name=${`poll-${id}`} checked=${option.selected} disabled=${vote.isRunning}
        onClick=${() => vote.run(option.id)} />
      <bdi>${option.label}</bdi>
      <meter max=${most} value=${option.votes} aria-hidden="true"></meter>
      <span class="num">${say("poll.votes", { count: option.votes })}</span>
    </label>`)}
    <p class="dim">${poll.closed ? say("poll.closed") : poll.expiresAt ? html`${say("poll.ends")} <${When} at=${poll.expiresAt} />` : say("poll.open")}
      ${isMine && !poll.closed && html` <button type="button" class="link" onClick=${close.run}>${say("poll.close")}</button>`}</p>
    <${Complaint} error=${vote.error ?? close.error} />
  </fieldset>`;
}
