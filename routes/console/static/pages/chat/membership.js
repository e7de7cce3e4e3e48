// Who is in a conversation, and what may be changed about that.
import { useState } from "preact/hooks";
import { chat } from "../../api.js";
import { html } from "../../html.js";
import { useShared } from "../../live.js";
import { go, place } from "../../router.js";
import { me } from "../../session.js";
import { useAction, useList } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Face } from "../../ui/face.js";
import { ofRow } from "../../ui/row.js";
import { Complaint, Loading, More, State } from "../../ui/states.js";
import { say } from "../../words.js";
import { FriendChoice } from "./friend-choice.js";

/** @param {{conversation: any, isWhole: boolean}} props `isWhole`: the conversation has all of its members with it. */
export function Membership({ conversation, isWhole }) {
  const isOwners = conversation.kind === "group" && conversation.ownerId === me.value.id;
  const takeOut = useAction(async ({ id, name }) => {
    const isSure = await ask({ title: say("chat.takeOut"), text: say("chat.takeOutText", { name }), confirm: say("chat.takeOut"), isDanger: true });
    if (isSure) await chat.leave(conversation.id, id);
  });
  const draw = (people) => html`<${People} of=${people} takeOut=${isOwners ? takeOut : null} />`;
  return html`${isWhole ? draw(conversation.participants) : html`<${Everybody} key=${conversation.participantCount} id=${conversation.id} draw=${draw} />`}
    <${Complaint} error=${takeOut.error} />
    ${isOwners && html`<${Add} conversation=${conversation} />`}
    <${Choices} conversation=${conversation} isOwners=${isOwners} />`;
}

function Everybody({ id, draw }) {
  const list = useList((query, signal) => chat.participants(id, { limit: 100, ...query }, signal));
  return html`<${State} of=${list}>${() => html`${draw(list.items)}<${More} of=${list} words=${say("chat.more")} />`}<//>`;
}

const People = ({ of: people, takeOut }) => html`<ul class="people" tabindex="0">${people.map((person) => html`<li key=${person.id}>
  <${Face} id=${person.id} name=${person.name} isOnline=${person.online} /> <bdi class="grow">${person.name}</bdi>
  ${takeOut && person.id !== me.value.id && html`<button type="button" class="quiet" disabled=${takeOut.isRunning} onClick=${() => takeOut.run(person)} ...${ofRow("chat.takeOut", person.name)} />`}</li>`)}</ul>`;

function Add({ conversation }) {
  const [isOpen, open] = useState(false);
  return html`<button type="button" aria-expanded=${isOpen} onClick=${() => open(!isOpen)}>${say("chat.add")}</button>
    ${isOpen && html`<${Adding} conversation=${conversation} close=${() => open(false)} />`}`;
}

function Adding({ conversation, close }) {
  const friends = useShared("friends").data?.friends ?? null;
  const [chosen, choose] = useState([]);
  const add = useAction(async () => {
    await chat.add(conversation.id, chosen);
    close();
  });
  if (friends === null) return html`<${Loading} />`;
  const known = new Set(conversation.participants.map(({ id }) => id));
  const others = friends.filter(({ friendId }) => !known.has(friendId));
  if (others.length === 0) return html`<p class="dim" role="status">${say("chat.addNobody")}</p>`;
  return html`<form class="newchat" onSubmit=${(event) => { event.preventDefault(); add.run(); }}>
    <${FriendChoice} legend=${say("chat.with")} friends=${others} chosen=${chosen} choose=${choose} />
    <button class="primary" disabled=${chosen.length === 0 || add.isRunning}>${say("chat.addChosen")}</button>
    <${Complaint} error=${add.error} />
  </form>`;
}

function Choices({ conversation, isOwners }) {
  const [title, setTitle] = useState(conversation.title ?? "");
  const rename = useAction(() => chat.change(conversation.id, { title: title.trim() || null }));
  const leave = useAction(async () => {
    const isSure = await ask({ title: say("chat.leave"), text: say("chat.leaveText"), confirm: say("chat.leave"), isDanger: true });
    if (!isSure) return;
    await chat.leave(conversation.id, me.value.id);
    if (place.value.path.endsWith(conversation.id)) go("/app/chat");
  });
  return html`<div class="choices">
    ${isOwners && html`<form class="row" onSubmit=${(event) => { event.preventDefault(); rename.run(); }}>
      <label class="field">${say("chat.rename")}<input value=${title} maxlength="100" onInput=${(event) => setTitle(event.currentTarget.value)} /></label>
      <button disabled=${rename.isRunning}>${say("action.save")}</button></form>`}
    ${conversation.kind === "group" && html`<button type="button" class="danger" onClick=${leave.run}>${say("chat.leave")}</button>`}
    <${Complaint} error=${rename.error ?? leave.error} />
  </div>`;
}
