// What needs one: invites, requests, unread conversations, notifications.
import { html } from "../html.js";
import { useShared } from "../live.js";
import { me } from "../session.js";
import { Face } from "../ui/face.js";
import { Fault, Loading } from "../ui/states.js";
import { When } from "../ui/when.js";
import { say } from "../words.js";

export default function Home() {
  const channels = ["inbox", "friends", "party", "notifications"].map(useShared);
  const error = channels.find((one) => one.error)?.error;
  const [inbox, friends, party, notifications] = channels.map((one) => one.data);
  const isThere = inbox && friends && party && notifications;
  return html`<div class="page"><h1 tabindex="-1">${say("home.hello", { name: me.value.name })}</h1>
    ${error && html`<${Fault} error=${error} />`}
    ${isThere ? html`<${Cards} inbox=${inbox} friends=${friends} party=${party} notifications=${notifications} />` : !error && html`<${Loading} />`}
  </div>`;
}

function Cards({ inbox, friends, party, notifications }) {
  const unread = inbox.conversations.filter((conversation) => conversation.unreadCount > 0);
  const online = friends.friends.filter((friend) => friend.online);
  const invites = party.invites.filter((one) => one.direction === "incoming");
  return html`<div class="tiles">
    <${Tile} href="/app/chat" title=${say("home.unread")} count=${inbox.totals.unread}>${unread.slice(0, 3).map((one) => html`<li><bdi class="clip">${one.lastMessagePreview}</bdi> <${When} at=${one.lastMessageAtMs} /></li>`)}<//>
    <${Tile} href="/app/friends" title=${say("home.requests")} count=${friends.requests.incoming.length}>${friends.requests.incoming.slice(0, 3).map((one) => html`<li><bdi>${one.player.name}</bdi></li>`)}<//>
    <${Tile} href="/app/party" title=${say("home.invites")} count=${invites.length}>${invites.slice(0, 3).map((one) => html`<li><bdi>${one.senderName}</bdi></li>`)}<//>
    <${Tile} href="/app/notifications" title=${say("notifications.title")} count=${notifications.unread}><//>
    <${Tile} href="/app/friends" title=${say("home.online")} count=${online.length}>${online.slice(0, 5).map((one) => html`<li><${Face} id=${one.friendId} name=${one.name} isOnline /> <bdi>${one.name}</bdi></li>`)}<//>
  </div>
  ${friends.friends.length === 0 && html`<section><h2>${say("home.first")}</h2><ol class="steps">
    <li><a href="/app/friends">${say("home.first.friend")}</a></li><li><a href="/app/profile">${say("home.first.profile")}</a></li><li><a href="/docs">${say("home.first.docs")}</a></li></ol></section>`}`;
}

const Tile = ({ href, title, count, children }) => html`<a class="tile" href=${href}><h2>${title}</h2><p class="count">${count}</p><ul>${children}</ul></a>`;
