// One message of a thread, and what may be done with it.
import { useState } from "preact/hooks";
import { chat } from "../../api.js";
import { html } from "../../html.js";
import { may, me } from "../../session.js";
import { useAction, useRead } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Face } from "../../ui/face.js";
import { Poll } from "../../ui/poll.js";
import { rich } from "../../ui/rich.js";
import { Complaint, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";
import { Attachment } from "./attachment.js";

/**
 * @param {{message: any, isFirst: boolean, changed: (message: any) => void}} props `isFirst` of several in a row by one
 *   sender shows who that is.
 */
export function Message({ message, isFirst, changed }) {
  const [isEditing, edit] = useState(false);
  const isMine = message.senderId === me.value.id;
  return html`<li class=${isFirst ? "message first" : "message"}>
    ${isFirst && html`<${Face} id=${message.senderId} name=${message.senderName} />
      <p class="by"><bdi>${message.senderName}</bdi> <${When} at=${message.createdAtMs} isClock /></p>`}
    ${message.deletedAt ? html`<p class="dim">${say("chat.deleted")}</p>`
      : isEditing ? html`<${Editor} message=${message} changed=${changed} close=${() => edit(false)} />`
      : html`<${Content} message=${message} isMine=${isMine} changed=${changed} />
        <${Actions} message=${message} isMine=${isMine} edit=${() => edit(true)} changed=${changed} />`}
  </li>`;
}

function Content({ message, isMine, changed }) {
  const { id, conversationId } = message;
  const vote = async (optionIds) => changed(await chat.vote(conversationId, id, optionIds));
  const close = async () => changed(await chat.closePoll(conversationId, id));
  return html`
    ${message.content && html`<p id=${id} class="text" dir="auto">${rich(message.content, message.mentions)}
      ${message.editedAt && html` <small class="dim">${say("chat.edited")}</small>`}</p>
      ${message.editedAt && html`<${Revisions} message=${message} />`}`}
    ${message.attachments.map((attachment) => html`<${Attachment} key=${attachment.id} attachment=${attachment} />`)}
    ${message.poll && html`<${Poll} poll=${message.poll} name=${id} vote=${vote} close=${isMine ? close : null} />`}`;
}

// What an edited message said before; asked for when somebody wants to know.
function Revisions({ message }) {
  const [isOpen, open] = useState(false);
  return html`<details class="dim" onToggle=${(event) => open(event.currentTarget.open)}><summary>${say("chat.revisions")}</summary>${isOpen && html`<${RevisionList} message=${message} />`}</details>`;
}

function RevisionList({ message }) {
  const read = useRead((signal) => chat.revisions(message.conversationId, message.id, signal), [message.id, message.editedAt]);
  return html`<${State} of=${read}>${({ items }) => html`<ol>${items.slice(0, -1).map((one) => html`<li key=${one.revision}><span class="text" dir="auto">${one.content}</span> <${When} at=${one.editedAt} /></li>`)}</ol>`}<//>`;
}

function Actions({ message, isMine, edit, changed }) {
  const remove = useAction(async () => {
    const isSure = await ask({ title: say("chat.delete"), text: say("chat.deleteText"), confirm: say("action.delete"), isDanger: true });
    if (isSure) changed(await chat.remove(message.conversationId, message.id));
  });
  if (!isMine && !may("social:chat.moderate")) return null;
  return html`<div class="actions" role="group" aria-label=${say("chat.actions")} aria-describedby=${message.id}>
    ${isMine && message.content && html`<button type="button" class="quiet" onClick=${edit}>${say("action.edit")}</button>`}
    <button type="button" class="quiet" onClick=${remove.run}>${say("action.delete")}</button>
    ${remove.error && html`<${Complaint} error=${remove.error} />`}
  </div>`;
}

// What is opened after the page has come is not focused by `autofocus`.
const focused = (field) => field?.focus();

function Editor({ message, changed, close }) {
  const [content, setContent] = useState(message.content);
  const save = useAction(async () => {
    const mentions = message.mentions.filter(({ token }) => content.includes(token)).map(({ kind, id, label }) => ({ kind, id, label }));
    changed(await chat.edit(message.conversationId, message.id, content, mentions));
    close();
  });
  const key = (event) => {
    if (event.key === "Escape") close();
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      save.run();
    }
  };
  return html`<div class="editor">
    <textarea ref=${focused} aria-label=${say("chat.editing")} maxlength="4000" value=${content} onInput=${(event) => setContent(event.currentTarget.value)} onKeyDown=${key}></textarea>
    <button type="button" onClick=${close}>${say("action.cancel")}</button>
    <button type="button" class="primary" disabled=${save.isRunning} onClick=${save.run}>${say("action.save")}</button>
    <${Complaint} error=${save.error} />
  </div>`;
}
