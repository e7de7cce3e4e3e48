// Who is in a conversation, and what may be changed about that.
import { useState } from "preact/hooks";
import { chat } from "../../api.js";
import { html } from "../../html.js";
import { me } from "../../session.js";
import { useAction, useList } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Face } from "../../ui/face.js";
import { Complaint, More, State } from "../../ui/states.js";
import { go, place } from "../../router.js";
import { say } from "../../words.js";

/** @param {{conversation: any}} props */
export function Members({ conversation }) {
  const [isOpen, open] = useState(false);
  const { participants, participantCount: count } = conversation;
  // A conversation has the first hundred with it: how many are online is known where those are all.
  const isWhole = participants.length >= count;
  const online = participants.filter((person) => person.online).length;
  return html`<div class="members">
    <button type="button" class="quiet" aria-expanded=${isOpen} onClick=${() => open(!isOpen)}>
      ${say("chat.members", { count })}${isWhole && html`, ${say("chat.online", { count: online })}`}</button>
    ${isOpen && html`<div class="popover">${isWhole ? html`<${People} of=${participants} />` : html`<${Everybody} key=${count} id=${conversation.id} />`}<${Choices} conversation=${conversation} /></div>`}
  </div>`;
}

function Everybody({ id }) {
  const list = useList((query, signal) => chat.participants(id, { limit: 100, ...query }, signal));
  return html`<${State} of=${list}>${() => html`<${People} of=${list.items} /><${More} of=${list} words=${say("chat.more")} />`}<//>`;
}

const People = ({ of: people }) => html`<ul class="people" tabindex="0">${people.map((person) => html`<li key=${person.id}><${Face} id=${person.id} name=${person.name} isOnline=${person.online} /> <bdi>${person.name}</bdi></li>`)}</ul>`;

function Choices({ conversation }) {
  const [title, setTitle] = useState(conversation.title ?? "");
  const isGroup = conversation.kind === "group";
  const rename = useAction(() => chat.change(conversation.id, { title: title.trim() || null }));
  const leave = useAction(async () => {
    const isSure = await ask({ title: say("chat.leave"), text: say("chat.leaveText"), confirm: say("chat.leave"), isDanger: true });
    if (!isSure) return;
    await chat.leave(conversation.id, me.value.id);
    if (place.value.path.endsWith(conversation.id)) go("/app/chat");
  });
  return html`<div class="choices">
    ${isGroup && conversation.ownerId === me.value.id && html`<form class="row" onSubmit=${(event) => { event.preventDefault(); rename.run(); }}>
      <label class="field">${say("chat.rename")}<input value=${title} maxlength="100" onInput=${(event) => setTitle(event.currentTarget.value)} /></label>
      <button disabled=${rename.isRunning}>${say("action.save")}</button></form>`}
    ${isGroup && html`<button type="button" class="danger" onClick=${leave.run}>${say("chat.leave")}</button>`}
    <${Complaint} error=${rename.error ?? leave.error} />
  </div>`;
}
