// What needs one: invites, requests, unread conversations, game servers; and for operators the service.
import { html } from "../../html.js";
import { useShared } from "../../live.js";
import { may, me, MODERATOR } from "../../session.js";
import { Face } from "../../ui/face.js";
import { Offer, useOffers } from "../../ui/offers.js";
import { PartyInvites } from "../../ui/party-invites.js";
import { Fault, Loading } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";
import { Operator } from "./operator.js";
import { OwnServers } from "./own-servers.js";
import { Tile } from "./tile.js";

export default function Home() {
  const channels = ["inbox", "friends", "party", "notifications", "servers"].map(useShared);
  const offers = useOffers();
  const error = channels.find((one) => one.error)?.error ?? offers.error;
  const [inbox, friends, party, notifications, servers] = channels.map((one) => one.data);
  const isThere = inbox && friends && party && notifications && servers && offers.data;
  return html`<div class="page"><h1 tabindex="-1">${say("home.hello", { name: me.value.name })}</h1>
    ${error && html`<${Fault} error=${error} />`}
    ${isThere ? html`<${Waiting} party=${party} offers=${offers} />
      <${People} inbox=${inbox} friends=${friends} notifications=${notifications} />
      <${OwnServers} servers=${servers.items} />
      ${may(MODERATOR) && html`<${Operator} />`}
      <${FirstSteps} friends=${friends} inbox=${inbox} servers=${servers} />` : !error && html`<${Loading} />`}
  </div>`;
}

// What waits for an answer can be answered here.
function Waiting({ party, offers }) {
  const invites = party.invites.filter((one) => one.direction === "incoming");
  if (invites.length + offers.data.items.length === 0) return null;
  return html`<section aria-labelledby="home-waiting"><h2 id="home-waiting">${say("home.waiting")}</h2><ul class="cards">
    <${PartyInvites} invites=${invites} />
    ${offers.data.items.map((offer) => html`<${Offer} key=${offer.id} offer=${offer} answered=${offers.reload} />`)}</ul></section>`;
}

function People({ inbox, friends, notifications }) {
  const unread = inbox.conversations.filter((conversation) => conversation.unreadCount > 0);
  const online = friends.friends.filter((friend) => friend.online);
  return html`<div class="tiles">
    <${Tile} href="/app/chat" title=${say("home.unread")} count=${inbox.totals.unread}>${unread.slice(0, 3).map((one) => html`<li><bdi class="clip">${one.lastMessagePreview}</bdi> <${When} at=${one.lastMessageAtMs} /></li>`)}<//>
    <${Tile} href="/app/friends" title=${say("home.requests")} count=${friends.requests.incoming.length}>${friends.requests.incoming.slice(0, 3).map((one) => html`<li><bdi>${one.player.name}</bdi></li>`)}<//>
    <${Tile} href="/app/notifications" title=${say("notifications.title")} count=${notifications.unread}><//>
    <${Tile} href="/app/friends" title=${say("home.online")} count=${online.length}>${online.slice(0, 5).map((one) => html`<li><${Face} id=${one.friendId} name=${one.name} isOnline /> <bdi>${one.name}</bdi></li>`)}<//>
  </div>`;
}

function FirstSteps({ friends, inbox, servers }) {
  const steps = [
    ["home.first.friend", "/app/friends", friends.friends.length === 0],
    ["home.first.chat", "/app/chat", inbox.conversations.length === 0],
    ["home.first.profile", "/app/profile", friends.friends.length === 0],
    ["home.first.server", "/app/servers/claim", servers.items.length === 0],
    ["home.first.docs", "/docs", true],
  ].filter(([, , isOpen]) => isOpen);
  if (steps.length < 2) return null;
  return html`<section aria-labelledby="home-first"><h2 id="home-first">${say("home.first")}</h2><ol class="steps">${steps.map(([words, href]) => html`<li key=${words}><a href=${href}>${say(words)}</a></li>`)}</ol></section>`;
}
