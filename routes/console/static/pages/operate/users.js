// People: found by name or id; what they may do and why; ending their sessions; erasing them.
import { useEffect, useState } from "preact/hooks";
import { admin, sessions } from "../../api.js";
import { html } from "../../html.js";
import { place, setQuery } from "../../router.js";
import { me } from "../../session.js";
import { useAction, useRead } from "../../store.js";
import { Id } from "../../ui/chip.js";
import { ask, showSecret } from "../../ui/dialog.js";
import { Face } from "../../ui/face.js";
import { Complaint, Empty, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { go } from "../../router.js";
import { say } from "../../words.js";
import { Grants } from "./grants.js";

const TYPING_MS = 250;

/** @param {{id?: string}} props of the open user. */
export default function Users({ id }) {
  return html`<div class="page"><h1 tabindex="-1">${say("users.title")}</h1><${Find} isShort=${Boolean(id)} />${id && html`<${User} key=${id} id=${id} />`}</div>`;
}

function Find({ isShort }) {
  const { query = "" } = place.value.query;
  const [text, setText] = useState(query);
  useEffect(() => {
    const timer = setTimeout(() => { if (text !== query) setQuery({ query: text }); }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useRead((signal) => (query ? admin.lookup(query, signal) : Promise.resolve({ items: null })), [query]);
  return html`<label class="field">${say("users.find")}<input type="search" value=${text} maxlength="64" onInput=${(event) => setText(event.currentTarget.value)} /></label>
    <${State} of=${found}>${({ items }) => items === null ? !isShort && html`<p class="dim">${say("users.findHint")}</p>` : items.length === 0 ? html`<${Empty}>${say("users.none")}<//>`
      : html`<ul class="people cards">${items.map((user) => html`<li key=${user.userId}><${Face} id=${user.userId} name=${user.name} /><div class="grow"><a href=${`/app/operate/users/${user.userId}`}><bdi>${user.name}</bdi></a>
        <p class="dim">${user.lastSeenAt ? html`${say("friends.lastSeen")} <${When} at=${user.lastSeenAt} />` : say("users.neverSeen")}</p></div></li>`)}</ul>`}<//>`;
}

function User({ id }) {
  const read = useRead((signal) => admin.user(id, signal), [id]);
  return html`<${State} of=${read}>${(user) => html`<section aria-label=${user.name}><header class="row"><h2><bdi>${user.name}</bdi> <${Id} id=${user.userId} what=${say("profile.id")} /></h2></header>
    <dl class="facts"><dt>${say("users.created")}</dt><dd><${When} at=${user.createdAt} /></dd><dt>${say("users.seen")}</dt><dd>${user.lastSeenAt ? html`<${When} at=${user.lastSeenAt} />` : "–"}</dd>
      <dt>${say("users.region")}</dt><dd>${user.homeRegion ?? "–"}</dd></dl></section>
    <${Grants} id=${id} /><${Access} user=${user} />`}<//>`;
}

function Access({ user }) {
  const name = user.name;
  const act = useAction((choose) => choose());
  const link = async () => {
    const { url } = await sessions.link(user.userId);
    await showSecret({ title: say("users.link"), text: say("users.linkText", { name }), secret: url });
  };
  const revoke = async () => {
    if (!(await ask({ title: say("users.revoke"), text: say("users.revokeText", { name }), confirm: say("users.revoke") }))) return;
    await admin.revokeTokens(user.userId);
    toast(say("users.revoked", { name }));
  };
  const erase = async () => {
    if (!(await ask({ title: say("users.erase"), text: say("users.eraseText", { name }), confirm: say("users.erase"), typed: name, isDanger: true }))) return;
    await admin.erase(user.userId);
    toast(say("users.erased", { name }));
    go("/app/operate/users");
  };
  return html`<section aria-labelledby="user-access"><h2 id="user-access">${say("users.access")}</h2><div class="buttons start">
    <button type="button" disabled=${act.isRunning} onClick=${() => act.run(link)}>${say("users.link")}</button>
    <button type="button" disabled=${act.isRunning} onClick=${() => act.run(revoke)}>${say("users.revoke")}</button>
    ${user.userId !== me.value.id && html`<button type="button" class="danger" disabled=${act.isRunning} onClick=${() => act.run(erase)}>${say("users.erase")}</button>`}</div>
    <${Complaint} error=${act.error} /></section>`;
}
