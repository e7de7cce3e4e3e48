// The party: who is in it, what is going to be played, who is ready.
import { useState } from "preact/hooks";
import { party as api } from "../api.js";
import { html } from "../html.js";
import { useShared } from "../live.js";
import { me } from "../session.js";
import { useAction } from "../store.js";
import { ask } from "../ui/dialog.js";
import { Face } from "../ui/face.js";
import { Field, Form, Submit } from "../ui/form.js";
import { PartyInvites } from "../ui/party-invites.js";
import { ofRow } from "../ui/row.js";
import { Complaint, Empty, Fault, Loading } from "../ui/states.js";
import { toast } from "../ui/toast.js";
import { listed, say } from "../words.js";

export default function PartyPage() {
  const { data, error } = useShared("party");
  const create = useAction(api.create);
  return html`<div class="page"><h1 tabindex="-1">${say("party.title")}</h1>
    ${error && html`<${Fault} error=${error} />`}
    ${data === null ? !error && html`<${Loading} />` : html`<${Invites} invites=${data.invites.filter((one) => one.direction === "incoming")} />
      ${data.party ? html`<${Party} party=${data.party} invites=${data.invites} />`
        : html`<${Empty} action=${html`<button type="button" class="primary" disabled=${create.isRunning} onClick=${() => create.run()}>${say("party.create")}</button>`}>${say("party.none")}<//>
          <${Complaint} error=${create.error} />`}`}
  </div>`;
}

function Invites({ invites }) {
  if (invites.length === 0) return null;
  return html`<section aria-labelledby="party-invites"><h2 id="party-invites">${say("party.invites")}</h2><ul class="people cards"><${PartyInvites} invites=${invites} /></ul></section>`;
}

function Party({ party, invites }) {
  const own = party.members.find((member) => member.playerId === me.value.id);
  const invited = invites.filter((one) => one.direction === "outgoing");
  return html`<${Launch} lobby=${party.lobby} members=${party.members} />
    <section aria-labelledby="party-members"><h2 id="party-members">${say("party.members", { count: party.members.length, max: party.maxSize })}</h2>
      <ul class="people cards">${party.members.map((member) => html`<${Member} key=${member.playerId} party=${party} member=${member} />`)}
        ${invited.map((one) => html`<${Invited} key=${one.recipientId} party=${party} invite=${one} />`)}</ul>
      <p><a href="/app/friends">${say("party.inviteFriends")}</a></p></section>
    <${Lobby} party=${party} own=${own} />
    <${Leaving} party=${party} />`;
}

function Member({ party, member }) {
  const isLeader = party.leaderId === me.value.id;
  return html`<li><${Face} id=${member.playerId} name=${member.name} isOnline=${member.online} /><div class="grow"><bdi>${member.name}</bdi>
      <p class="dim">${member.leader ? say("party.leader") : member.selector ? say("party.selector") : ""}</p></div>
    <span class=${`chip ${member.ready.ready ? "good" : "plain"}`}>${say(member.ready.ready ? "party.isReady" : "party.isNotReady")}</span>
    ${isLeader && !member.leader && html`<${Lead} party=${party} member=${member} />`}</li>`;
}

// What a leader may do with a member.
function Lead({ party, member: { playerId, name, selector } }) {
  const act = useAction((choose) => choose());
  const selectors = party.members.filter((one) => one.selector && !one.leader && one.playerId !== playerId).map((one) => one.playerId);
  const choose = () => api.setSelectors(selector ? selectors : [...selectors, playerId]);
  const promote = async () => {
    if (await ask({ title: say("party.promote"), text: say("party.promoteText", { name }), confirm: say("party.promote") })) await api.promote(playerId);
  };
  const remove = async () => {
    if (await ask({ title: say("party.kick"), text: say("party.kickText", { name }), confirm: say("party.kick"), isDanger: true })) await api.kick(playerId);
  };
  return html`<details class="more"><summary aria-label=${say("friends.more", { name })}>⋯</summary><div class="popover" role="group" aria-label=${name}>
    <button type="button" aria-pressed=${selector} disabled=${act.isRunning} onClick=${() => act.run(choose)}>${say("party.selector")}</button>
    <button type="button" disabled=${act.isRunning} onClick=${() => act.run(promote)}>${say("party.promote")}</button>
    <button type="button" class="danger" disabled=${act.isRunning} onClick=${() => act.run(remove)}>${say("party.kick")}</button><${Complaint} error=${act.error} /></div></details>`;
}

function Invited({ party, invite: { recipientId, player } }) {
  const withdraw = useAction(() => api.withdraw(party.id, recipientId));
  return html`<li class="dim"><${Face} id=${recipientId} name=${player.name} /><div class="grow"><bdi>${player.name}</bdi> ${say("party.isInvited")}<${Complaint} error=${withdraw.error} /></div>
    ${party.leaderId === me.value.id && html`<button type="button" disabled=${withdraw.isRunning} onClick=${() => withdraw.run()} ...${ofRow("friends.cancel", player.name)} />`}</li>`;
}

function Launch({ lobby: { launchSignal }, members }) {
  if (!launchSignal) return null;
  const names = listed(members.filter((member) => launchSignal.memberIds.includes(member.playerId)).map((member) => member.name));
  return html`<p class="banner good" role="status">${say("party.launch", { target: launchSignal.targetId, names })}
    ${launchSignal.serverAddress && html` <code>${launchSignal.serverAddress}</code>`}</p>`;
}

function Lobby({ party, own }) {
  const { selection } = party.lobby;
  const ready = useAction(() => api.setReady(!own.ready.ready));
  return html`<section aria-labelledby="party-lobby"><h2 id="party-lobby">${say("party.lobby")}</h2>
    <p>${selection ? html`<bdi>${selection.displayName}</bdi> ${selection.serverAddress && html`<code>${selection.serverAddress}</code>`}` : say("party.nothingSelected")}</p>
    ${selection && html`<button type="button" class=${own.ready.ready ? "" : "primary"} disabled=${ready.isRunning} onClick=${() => ready.run()}>${say(own.ready.ready ? "party.notReady" : "party.ready")}</button>`}
    <${Complaint} error=${ready.error} />
    ${(own.leader || own.selector) && html`<${Select} />`}
  </section>`;
}

function Select() {
  const [fields, setFields] = useState({ displayName: "", targetId: "", serverAddress: "" });
  const [isRounds, setRounds] = useState(false);
  const set = (name) => (value) => setFields({ ...fields, [name]: value });
  const select = useAction(async () => {
    const minigame = { mode: fields.targetId, variant: "default", roundBased: isRounds };
    await api.select({ targetKind: isRounds ? "minigame" : "server", ...fields, ...(isRounds && { minigame }) });
    toast(say("party.selected"));
  });
  return html`<details><summary>${say("party.select")}</summary><${Form} action=${select} label=${say("party.select")} onSubmit=${() => select.run()}>
    <${Field} label=${say("party.displayName")} value=${fields.displayName} onInput=${set("displayName")} error=${select.error} pointer="/displayName" />
    <${Field} label=${say("party.target")} value=${fields.targetId} onInput=${set("targetId")} error=${select.error} pointer="/targetId" />
    <${Field} label=${say("party.address")} value=${fields.serverAddress} onInput=${set("serverAddress")} error=${select.error} pointer="/serverAddress" />
    <${Field} kind="switch" label=${say("party.rounds")} value=${isRounds} onInput=${setRounds} />
    <${Submit} action=${select}>${say("party.select")}<//><//></details>`;
}

function Leaving({ party }) {
  const isLeader = party.leaderId === me.value.id;
  const leave = useAction(api.leave);
  const disband = useAction(async () => {
    if (await ask({ title: say("party.disband"), text: say("party.disbandText", { count: party.members.length }), confirm: say("party.disband"), isDanger: true })) await api.disband();
  });
  return html`<div class="buttons"><button type="button" disabled=${leave.isRunning} onClick=${() => leave.run()}>${say("party.leave")}</button>
    ${isLeader && html`<button type="button" class="danger" onClick=${() => disband.run()}>${say("party.disband")}</button>`}</div>
    <${Complaint} error=${leave.error ?? disband.error} />`;
}
