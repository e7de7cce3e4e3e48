// One message of a thread, and what may be done with it.
import { useState } from "preact/hooks";
import { chat } from "../../api.js";
import { html } from "../../html.js";
import { may, me } from "../../session.js";
import { useAction } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Face } from "../../ui/face.js";
import { Complaint } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";
import { Attachment } from "./attachment.js";
import { Poll } from "./poll.js";
import { rich } from "./rich.js";

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
  return html`
    ${message.content && html`<p class="text" dir="auto">${rich(message.content, message.mentions)}
      ${message.editedAt && html` <small class="dim">${say("chat.edited")}</small>`}</p>`}
    ${message.attachments.map((attachment) => html`<${Attachment} key=${attachment.id} attachment=${attachment} />`)}
    ${message.poll && html`<${Poll} message=${message} isMine=${isMine} changed=${changed} />`}`;
}

function Actions({ message, isMine, edit, changed }) {
  const remove = useAction(async () => {
    const isSure = await ask({ title: say("chat.delete"), text: say("chat.deleteText"), confirm: say("action.delete"), isDanger: true });
    if (isSure) changed(await chat.remove(message.conversationId, message.id));
  });
  if (!isMine && !may("social:chat.moderate")) return null;
  return html`<div class="actions" role="group" aria-label=${say("chat.actions")}>
    ${isMine && message.content && html`<button type="button" class="quiet" onClick=${edit}>${say("action.edit")}</button>`}
    <button type="button" class="quiet" onClick=${remove.run}>${say("action.delete")}</button>
    ${remove.error && html`<${Complaint} error=${remove.error} />`}
  </div>`;
}

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
    <textarea autofocus aria-label=${say("chat.editing")} maxlength="4000" value=${content} onInput=${(event) => setContent(event.currentTarget.value)} onKeyDown=${key}></textarea>
    <button type="button" onClick=${close}>${say("action.cancel")}</button>
    <button type="button" class="primary" disabled=${save.isRunning} onClick=${save.run}>${say("action.save")}</button>
    <${Complaint} error=${save.error} />
  </div>`;
}
