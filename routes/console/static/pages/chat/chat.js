// Chat: the inbox, and one thread beside it (above it, where there is no room).
import { useState } from "preact/hooks";
import { html } from "../../html.js";
import { useShared } from "../../live.js";
import { useAction } from "../../store.js";
import { Face } from "../../ui/face.js";
import { Complaint, Empty, Fault, Loading } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";
import { Thread } from "./thread.js";
import { titleOf } from "../../ui/conversation-title.js";

/** @param {{id?: string}} props of the open conversation. */
export default function Chat({ id }) {
  const { data: inbox, error } = useShared("inbox");
  const [making, setMaking] = useState(null); // what makes a conversation, once somebody has asked for it
  const make = useAction(async () => setMaking(making ? null : await import("./new-conversation.js")));
  const Heading = id ? "h2" : "h1";
  return html`<div class=${id ? "chat open" : "chat"}>
    <section class="inbox" aria-label=${say("chat.title")}>
      <header><${Heading} tabindex=${id ? null : "-1"}>${say("chat.title")}<//>
        <button type="button" aria-expanded=${making !== null} onClick=${() => make.run()}>${say("chat.make")}</button></header>
      <${Complaint} error=${make.error} />
      ${making && html`<${making.NewConversation} close=${() => setMaking(null)} />`}
      ${error ? html`<${Fault} error=${error} isWhole />` : inbox === null ? html`<${Loading} />` : html`<${List} inbox=${inbox} id=${id} />`}
    </section>
    ${id ? html`<${Thread} key=${id} id=${id} />` : html`<${Empty}>${say("chat.choose")}<//>`}
  </div>`;
}

function List({ inbox, id }) {
  const [older, setOlder] = useState(null); // what shows those that the inbox does not reach, once somebody has asked for them
  const show = useAction(async () => setOlder(await import("./older.js")));
  if (inbox.conversations.length === 0) return html`<${Empty}>${say("chat.none")}<//>`;
  const draw = (conversation) => html`<li key=${conversation.id}>
    <a href=${`/app/chat/${conversation.id}`} aria-current=${conversation.id === id ? "page" : null}>
      <${Face} id=${conversation.id} name=${titleOf(conversation)} />
      <bdi class="title">${titleOf(conversation)}</bdi>
      <bdi class="dim clip">${conversation.lastMessagePreview ?? say("chat.nothingYet")}</bdi>
      <span class="dim at"><${When} at=${conversation.lastMessageAtMs} /></span>
      ${conversation.unreadCount > 0 && html`<span class="badge">${say("chat.unread", { count: conversation.unreadCount })}</span>`}
    </a></li>`;
  return html`<ul>${inbox.conversations.map(draw)}</ul>
    ${inbox.hasMore && (older ? html`<${older.Older} above=${inbox.conversations} id=${id} draw=${draw} />`
      : html`<button type="button" disabled=${show.isRunning} onClick=${show.run}>${say("notifications.older")}</button><${Complaint} error=${show.error} />`)}`;
}
