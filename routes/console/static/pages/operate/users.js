// People: found by name, id or role.
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { place, setQuery } from "../../router.js";
import { SUPER_ADMIN, may, me } from "../../session.js";
import { useList } from "../../store.js";
import { Face } from "../../ui/face.js";
import { Field } from "../../ui/form.js";
import { Search } from "../../ui/search.js";
import { Choice, ChooseAll, SelectionBar, useSelection } from "../../ui/selection.js";
import { Empty, More, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";
import { User } from "./user.js";

const ROLES = ["", "super-admin", "admin", "moderator"];

/** @param {{id?: string}} props of the open user. */
export default function Users({ id }) {
  return id ? html`<${User} key=${id} id=${id} />` : html`<div class="page"><h1 tabindex="-1">${say("users.title")}</h1><${Find} /></div>`;
}

function Find() {
  const { query = "", role = "" } = place.value.query;
  const list = useList((more, signal) => admin.users({ query: query || null, role: role || null, limit: 50, ...more }, signal), [query, role]);
  // Oneself is never one of many.
  const isFree = (user) => may(SUPER_ADMIN) && user.userId !== me.value.id;
  const selection = useSelection(list.items ?? [], { keyOf: (user) => user.userId, nameOf: (user) => user.name, isFree });
  return html`<div class="row"><${Search} label=${say("users.find")} maxlength="64" />
      <${Field} kind="select" label=${say("users.role")} value=${role} onInput=${(value) => setQuery({ role: value })} options=${ROLES.map((one) => [one, say(`users.role.${one || "any"}`)])} /></div>
    <${State} of=${list}>${() => list.items.length === 0 ? html`<${Empty}>${say("users.none")}<//>`
      : html`<${ChooseAll} of=${selection} /><ul class="people cards">${list.items.map((user) => html`<li key=${user.userId}>${may(SUPER_ADMIN) && html`<${Choice} of=${selection} item=${user} />`}<${Face} id=${user.userId} name=${user.name} /><div class="grow"><a href=${`/app/operate/users/${user.userId}`}><bdi>${user.name}</bdi></a>
          <p class="dim">${user.lastSeenAt ? html`${say("friends.lastSeen")} <${When} at=${user.lastSeenAt} />` : say("users.neverSeen")}</p></div>
          ${user.roles.length > 0 && html`<span class="chip plain">${user.highestRoleLabel}</span>`}</li>`)}</ul>
        <${More} of=${list} /><${SelectionBar} of=${selection} actions=${many()} changed=${list.reload} />`}<//>`;
}

const MANY = "moderator"; // the one role that several get at once; higher ones are given by hand

function many() {
  const isModerator = (user) => user.roles.includes(MANY);
  const give = (user) => admin.addRole(user.userId, MANY);
  const take = (user) => admin.removeRole(user.userId, MANY);
  return [
    { name: "give", words: say("users.makeModerator"), text: (name) => say("users.makeModeratorText", { name }), fits: (user) => !isModerator(user), run: give, undo: take },
    { name: "take", words: say("users.noModerator"), text: (name) => say("users.noModeratorText", { name }), fits: isModerator, run: take, undo: give },
    { name: "revoke", words: say("users.revoke"), text: (name) => say("users.revokeText", { name }), run: (user) => admin.revokeTokens(user.userId) },
  ];
}
