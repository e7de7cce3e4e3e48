// Somebody else: what they show, and what one can do with them.
import { chat, friends as friendsApi, people as api } from "../api.js";
import { html } from "../html.js";
import { useShared } from "../live.js";
import { go, place } from "../router.js";
import { me } from "../session.js";
import { useAction, useRead } from "../store.js";
import { Id } from "../ui/chip.js";
import { Face } from "../ui/face.js";
import { Complaint, Empty, State } from "../ui/states.js";
import { toast } from "../ui/toast.js";
import { day, say, sayOf } from "../words.js";

/** @param {{id: string}} props a user's id or name. */
export default function Person({ id }) {
  const read = useRead((signal) => api.read(id, signal), [id]);
  return html`<div class="page"><h1 tabindex="-1"><bdi>${read.data?.name ?? say("people.title")}</bdi></h1>
    <${State} of=${read}>${(person) => html`<section aria-label=${person.name}>
      <div class="person"><${Face} id=${person.userId} name=${person.name} isOnline=${person.online} /><p class="grow">${sayOf("users.role", person.highestRoleLabel.toLowerCase().replace(" ", "-"), person.highestRoleLabel)} · ${say("people.since", { day: day(person.createdAt) })} · <${Id} id=${person.userId} what=${say("profile.id")} /></p></div>
      ${person.userId !== me.value.id && html`<${Moves} person=${person} />`}</section>
      <${Servers} id=${person.userId} /><${Friends} id=${person.userId} />`}<//></div>`;
}

function Moves({ person: { userId, name } }) {
  const known = useShared("friends").data;
  const isFriend = known?.friends.some((friend) => friend.friendId === userId);
  const act = useAction((choose) => choose());
  const { path: from } = place.value;
  const write = async () => {
    const { id } = await chat.open([userId], "direct");
    go(`/app/chat/${id}`, { from });
  };
  const request = async () => {
    await friendsApi.request(name);
    toast(say("friends.asked", { name }));
  };
  return html`<div class="buttons start"><button type="button" disabled=${act.isRunning} onClick=${() => act.run(write)}>${say("friends.write")}</button>
    ${known && !isFriend && html`<button type="button" disabled=${act.isRunning} onClick=${() => act.run(request)}>${say("friends.ask")}</button>`}</div><${Complaint} error=${act.error} />`;
}

// A list that is not shown to everybody is refused; that says so, and is no fault.
const shownOr = (read) => read.catch((error) => {
  if (error.status !== 403) throw error;
  return null;
});

const Hidden = () => html`<p class="dim">${say("people.hidden")}</p>`;

function Servers({ id }) {
  const read = useRead(async (signal) => ({ list: await shownOr(api.servers(id, signal)) }), [id]);
  return html`<section aria-labelledby="person-servers"><h2 id="person-servers">${say("saved.title")}</h2><${State} of=${read}>${({ list }) => (list === null ? html`<${Hidden} />`
    : list.items.length === 0 ? html`<${Empty}>${say("people.noServers")}<//>` : html`<ul class="cards">${list.items.map((server) => html`<li key=${server.id}><div class="grow"><bdi>${server.displayName}</bdi> <code>${server.address}</code></div>${server.favorite && html`<span class="chip plain">★</span>`}</li>`)}</ul>`)}<//></section>`;
}

function Friends({ id }) {
  const read = useRead(async (signal) => ({ list: await shownOr(api.friends(id, signal)) }), [id]);
  return html`<section aria-labelledby="person-friends"><h2 id="person-friends">${say("friends.title")}</h2><${State} of=${read}>${({ list }) => (list === null ? html`<${Hidden} />`
    : list.friends.length === 0 ? html`<${Empty}>${say("people.noFriends")}<//>` : html`<ul class="people cards">${list.friends.map((friend) => html`<li key=${friend.friendId}><${Face} id=${friend.friendId} name=${friend.name} isOnline=${friend.online} /><a href=${`/app/people/${friend.friendId}`}><bdi>${friend.name}</bdi></a></li>`)}</ul>`)}<//></section>`;
}
