// People: found by name, id or role.
import { admin } from "../../api.js";
import { html } from "../../html.js";
import { place, setQuery } from "../../router.js";
import { useList } from "../../store.js";
import { Face } from "../../ui/face.js";
import { Field } from "../../ui/form.js";
import { Search } from "../../ui/search.js";
import { Empty, State } from "../../ui/states.js";
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
  return html`<div class="row"><${Search} label=${say("users.find")} maxlength="64" />
      <${Field} kind="select" label=${say("users.role")} value=${role} onInput=${(value) => setQuery({ role: value })} options=${ROLES.map((one) => [one, say(`users.role.${one || "any"}`)])} /></div>
    <${State} of=${list}>${() => list.items.length === 0 ? html`<${Empty}>${say("users.none")}<//>`
      : html`<ul class="people cards">${list.items.map((user) => html`<li key=${user.userId}><${Face} id=${user.userId} name=${user.name} /><div class="grow"><a href=${`/app/operate/users/${user.userId}`}><bdi>${user.name}</bdi></a>
          <p class="dim">${user.lastSeenAt ? html`${say("friends.lastSeen")} <${When} at=${user.lastSeenAt} />` : say("users.neverSeen")}</p></div>
          ${user.roles.length > 0 && html`<span class="chip plain">${user.highestRoleLabel}</span>`}</li>`)}</ul>
        ${list.hasMore && html`<button type="button" disabled=${list.isGoingOn} onClick=${list.more}>${say("notifications.older")}</button>`}`}<//>`;
}
