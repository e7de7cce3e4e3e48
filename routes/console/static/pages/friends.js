// Friends: who is online, requests that wait, and who is blocked.
import { useState } from "preact/hooks";
import { chat, friends as api, party } from "../api.js";
import { html } from "../html.js";
import { useShared } from "../live.js";
import { go } from "../router.js";
import { useAction, useList } from "../store.js";
import { ask } from "../ui/dialog.js";
import { Face } from "../ui/face.js";
import { Field, Form, Submit } from "../ui/form.js";
import { ofRow } from "../ui/row.js";
import { Complaint, Empty, Fault, Loading, More, State } from "../ui/states.js";
import { toast } from "../ui/toast.js";
import { When } from "../ui/when.js";
import { say } from "../words.js";

export default function Friends() {
  const { data, error } = useShared("friends");
  return html`<div class="page"><h1 tabindex="-1">${say("friends.title")}</h1>
    ${error && html`<${Fault} error=${error} />`}
    <${Ask} />
    ${data === null ? !error && html`<${Loading} />` : html`
      <${Requests} requests=${data.requests} />
      <section aria-labelledby="friends-all"><h2 id="friends-all">${say("friends.count", { count: data.friends.length })}</h2>
        ${data.friends.length === 0 ? html`<${Empty}>${say("friends.none")}<//>`
          : html`<ul class="people cards">${inOrder(data.friends).map((friend) => html`<${Friend} key=${friend.friendId} friend=${friend} />`)}</ul>`}
      </section>`}
    <${Blocked} />
  </div>`;
}

// Favourites first, then who is online, then by name.
function inOrder(friends) {
  const rank = (friend) => (friend.favorite ? 0 : 2) + (friend.online ? 0 : 1);
  return [...friends].sort((one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name));
}

function Ask() {
  const [name, setName] = useState("");
  const send = useAction(async () => {
    const sent = await api.request(name.trim());
    toast(say(sent.friend ? "friends.areNow" : "friends.asked", { name: name.trim() }));
    setName("");
  });
  return html`<${Form} action=${send} label=${say("friends.ask")} onSubmit=${() => send.run()}>
    <div class="row"><${Field} label=${say("friends.name")} value=${name} onInput=${setName} error=${send.error} pointer="/targetName" maxlength="64" />
    <${Submit} action=${send}>${say("friends.ask")}<//></div>
  <//>`;
}

function Requests({ requests: { incoming, outgoing } }) {
  if (!incoming.length && !outgoing.length) return null;
  return html`<section aria-labelledby="friends-requests"><h2 id="friends-requests">${say("friends.requests")}</h2><ul class="people cards">
    ${incoming.map((one) => html`<${Request} key=${one.id} request=${one} choices=${[["friends.accept", api.accept], ["friends.decline", api.decline]]} />`)}
    ${outgoing.map((one) => html`<${Request} key=${one.id} request=${one} choices=${[["friends.cancel", api.cancel]]} />`)}
  </ul></section>`;
}

function Request({ request, choices }) {
  const act = useAction((choose) => choose(request.id));
  return html`<li><${Face} id=${request.player.id} name=${request.player.name} /><div class="grow"><bdi>${request.player.name}</bdi>
      <p class="dim">${say(`friends.${request.direction}`)} · <${When} at=${request.createdAt} /></p>
      ${request.note && html`<p dir="auto">${request.note}</p>`}<${Complaint} error=${act.error} /></div>
    ${choices.map(([words, choose], n) => html`<button type="button" class=${n === 0 && choices.length > 1 ? "primary" : ""} disabled=${act.isRunning} onClick=${() => act.run(choose)} ...${ofRow(words, request.player.name)} />`)}
  </li>`;
}

function Friend({ friend }) {
  const { friendId, name } = friend;
  const act = useAction((choose) => choose());
  const write = async () => {
    const { id } = await chat.open([friendId], "direct");
    go(`/app/chat/${id}`, { from: "/app/friends" });
  };
  const invite = async () => { await party.invite(friendId); toast(say("party.invited", { name })); };
  const favorite = () => api.change(friendId, { favorite: !friend.favorite });
  const remove = async () => {
    if (await ask({ title: say("friends.remove"), text: say("friends.removeText", { name }), confirm: say("friends.remove"), isDanger: true })) await api.remove(friendId);
  };
  const unblock = async () => {
    await api.unblock(friendId);
    toast(say("friends.unblocked", { name }));
  };
  const block = async () => {
    if (await ask({ title: say("friends.block"), text: say("friends.blockText", { name }), confirm: say("friends.block"), isDanger: true })) {
      await api.block(friendId);
      toast(say("friends.blocked", { name }), { undo: unblock });
    }
  };
  return html`<li><${Face} id=${friendId} name=${name} isOnline=${friend.online} />
    <div class="grow"><a href=${`/app/people/${friendId}`}><bdi>${name}</bdi></a> ${friend.flameStreak?.active && html`<span class="chip warn">${say("friends.streak", { count: friend.flameStreak.days })}</span>`}
      ${friend.note && html`<p dir="auto">${friend.note}</p>`}
      <p class="dim">${friend.online ? say("friends.online") : friend.lastSeenAt ? html`${say("friends.lastSeen")} <${When} at=${friend.lastSeenAt} />` : say("friends.offline")}</p>
      <${Complaint} error=${act.error} /></div>
    <button type="button" aria-pressed=${friend.favorite} aria-label=${say("friends.favorite", { name })} onClick=${() => act.run(favorite)}>${friend.favorite ? "★" : "☆"}</button>
    <button type="button" onClick=${() => act.run(write)} ...${ofRow("friends.write", name)} />
    <button type="button" onClick=${() => act.run(invite)} ...${ofRow("friends.invite", name)} />
    <details class="more"><summary aria-label=${say("friends.more", { name })}>⋯</summary><div class="popover" role="group" aria-label=${name}>
      <${Visibility} friend=${friend} act=${act} /><${Note} friend=${friend} />
      <${Report} id=${friendId} name=${name} />
      <button type="button" onClick=${() => act.run(remove)}>${say("friends.remove")}</button>
      <button type="button" class="danger" onClick=${() => act.run(block)}>${say("friends.block")}</button></div></details>
  </li>`;
}

function Visibility({ friend, act }) {
  const options = ["DEFAULT", "LIMITED", "HIDDEN"].map((one) => [one, say(`friends.visibility.${one}`)]);
  return html`<${Field} kind="select" label=${say("friends.visibility")} value=${friend.visibility} options=${options}
    onInput=${(visibility) => act.run(() => api.change(friend.friendId, { visibility }))} />`;
}

// For oneself alone; kept when the field is left, beside what the button does that it was left for.
function Note({ friend }) {
  const [text, setText] = useState(friend.note ?? "");
  const keep = useAction(() => api.change(friend.friendId, { note: text.trim() || null }));
  const leave = () => { if (text.trim() !== (friend.note ?? "")) keep.run(); };
  return html`<${Field} label=${say("friends.note")} hint=${say("friends.noteHint")} value=${text} onInput=${setText} onBlur=${leave} maxlength="300" /><${Complaint} error=${keep.error} />`;
}

function Report({ id, name }) {
  const [reason, setReason] = useState("");
  const send = useAction(async () => {
    await api.report(id, reason.trim());
    setReason("");
    toast(say("friends.reported", { name }));
  });
  return html`<details><summary>${say("friends.report")}</summary><${Form} action=${send} label=${say("friends.report")} onSubmit=${() => send.run()}>
    <${Field} kind="area" rows="2" label=${say("friends.reportReason")} value=${reason} onInput=${setReason} error=${send.error} pointer="/reason" maxlength="500" />
    <${Submit} action=${send} disabled=${!reason.trim() || send.isRunning}>${say("friends.report")}<//><//></details>`;
}

function Blocked() {
  const [isOpen, open] = useState(false);
  return html`<section><button type="button" class="link" aria-expanded=${isOpen} onClick=${() => open(!isOpen)}>${say("friends.showBlocked")}</button>
    ${isOpen && html`<${BlockedList} />`}</section>`;
}

function BlockedList() {
  const list = useList(api.blocks);
  const unblock = useAction(async ({ blockedUserId, reason }) => {
    await api.unblock(blockedUserId);
    toast(say("friends.isUnblocked"), { undo: async () => { await api.block(blockedUserId, reason); await list.reload(); } });
    await list.reload();
  });
  return html`<${State} of=${list}>${() => list.items.length === 0 ? html`<${Empty}>${say("friends.noneBlocked")}<//>`
    : html`<ul class="people cards">${list.items.map((block) => html`<li key=${block.blockedUserId}><code>${block.blockedUserId}</code>
        <div class="grow"><p class="dim" dir="auto">${block.reason}</p></div>
        <button type="button" disabled=${unblock.isRunning} onClick=${() => unblock.run(block)} ...${ofRow("friends.unblock", block.blockedUserId)} /></li>`)}</ul>
      <${More} of=${list} /><${Complaint} error=${unblock.error} />`}<//>`;
}
