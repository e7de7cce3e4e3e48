// How many are in a conversation; who they are, and what may be changed about that, once somebody asks for it.
import { useState } from "preact/hooks";
import { html } from "../../html.js";
import { useAction } from "../../store.js";
import { Complaint } from "../../ui/states.js";
import { loadWords, say } from "../../words.js";

/** @param {{conversation: any}} props */
export function Members({ conversation }) {
  const [opened, setOpened] = useState(null); // what shows them
  const toggle = useAction(async () => setOpened(opened ? null : (await Promise.all([import("./membership.js"), loadWords("play")]))[0]));
  const { participants, participantCount: count } = conversation;
  // A conversation has the first hundred with it: how many are online is known where those are all.
  const isWhole = participants.length >= count;
  const online = participants.filter((person) => person.online).length;
  return html`<div class="members">
    <button type="button" class="quiet" aria-expanded=${opened !== null} onClick=${() => toggle.run()}>
      ${say("chat.members", { count })}${isWhole && html`, ${say("chat.online", { count: online })}`}</button>
    <${Complaint} error=${toggle.error} />
    ${opened && html`<div class="popover"><${opened.Membership} conversation=${conversation} isWhole=${isWhole} /></div>`}
  </div>`;
}
