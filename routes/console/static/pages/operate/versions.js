// Releases and the channels that point to them.
import { useState } from "preact/hooks";
import { versions as api } from "../../api.js";
import { html } from "../../html.js";
import { place, setQuery } from "../../router.js";
import { may } from "../../session.js";
import { useAction, useList, useRead } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { ofRow } from "../../ui/row.js";
import { Choice, ChooseAll, SelectionBar, useSelection } from "../../ui/selection.js";
import { Complaint, Empty, More, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { When } from "../../ui/when.js";
import { number, say } from "../../words.js";

const STATUSES = ["", "draft", "published", "yanked"];
const TONES = { published: "good", draft: "warn", yanked: "bad" };
const PUBLISH = "versions:publish";
// Whoever may only write releases sees what publishing them would be, and which right it takes.
const withheld = () => !may(PUBLISH) && say("fault.missingRight", { right: PUBLISH });

export default function Versions() {
  const { status = "" } = place.value.query;
  const channels = useRead((signal) => api.channels(signal));
  const releases = useList((query, signal) => api.releases({ limit: 30, status: status || null, ...query }, signal), [status]);
  const changed = () => Promise.all([channels.reload(), releases.reload()]);
  const selection = useSelection(releases.items ?? [], { keyOf: (one) => one.releaseId, nameOf: (one) => one.version, isFree: (one) => one.status !== "yanked" });
  return html`<div class="page"><h1 tabindex="-1">${say("versions.title")}</h1>
    <section aria-labelledby="versions-channels"><h2 id="versions-channels">${say("versions.channels")}</h2>
      <${State} of=${channels}>${({ items }) => (items.length === 0 ? html`<${Empty}>${say("versions.noChannels")}<//>` : html`<ul class="cards">${items.map((one) => html`<li key=${`${one.scope.type} ${one.scope.id} ${one.channel}`}><div class="grow"><p><strong>${one.channel}</strong> ${one.scope.type} <code>${one.scope.id}</code></p>
        <p class="dim">${nameOf(releases.items, one.releaseId)} · <${When} at=${one.activatedAt} /></p></div></li>`)}</ul>`)}<//></section>
    <section aria-labelledby="versions-releases"><h2 id="versions-releases">${say("versions.releases")}</h2>
      <${Field} kind="select" label=${say("server.status")} value=${status} onInput=${(value) => setQuery({ status: value })} options=${STATUSES.map((one) => [one, say(`versions.status.${one || "any"}`)])} />
      <${State} of=${releases}>${() => (releases.items.length === 0 ? html`<${Empty} action=${html`<p class="dim">${say("versions.noneText")}</p>`}>${say("versions.none")}<//>` : html`<${ChooseAll} of=${selection} /><ul class="cards">${releases.items.map((release) => html`<${Release} key=${release.releaseId} release=${release} selection=${selection} changed=${changed} />`)}</ul>
        <${More} of=${releases} /><${SelectionBar} of=${selection} actions=${many()} changed=${changed} />`)}<//></section></div>`;
}

const nameOf = (releases, id) => releases?.find((release) => release.releaseId === id)?.version ?? id;

function many() {
  const move = (verb, from, status) => ({ name: verb, words: say(`versions.${verb}`), text: (names) => say(`versions.${verb}Text`, { name: names }), isDanger: verb === "yank", fits: (one) => one.status === from, run: (one) => api.change(one.releaseId, { status }) });
  return [...(withheld() ? [] : [move("publish", "draft", "published")]), move("yank", "published", "yanked")];
}

function Release({ release, selection, changed }) {
  const { releaseId, scope, version, status } = release;
  const [isSeen, look] = useState(false);
  const act = useAction(async (choose) => {
    await choose();
    await changed();
  });
  const move = async (verb, body, isDanger = false) => {
    if (await ask({ title: say(`versions.${verb}`), text: say(`versions.${verb}Text`, { name: version }), confirm: say(`versions.${verb}`), isDanger })) await api.change(releaseId, body);
  };
  const remove = async () => {
    if (await ask({ title: say("versions.remove"), text: say("versions.removeText", { name: version }), confirm: say("versions.remove"), typed: version, isDanger: true })) await api.remove(releaseId);
  };
  return html`<li><${Choice} of=${selection} item=${release} /><div class="grow"><p><strong>${version}</strong> ${scope.type} <code>${scope.id}</code></p>
      <p class="dim">${say(`versions.policy.${release.updatePolicy}`)} · ${say("versions.rollout", { percent: release.rollout.percentage })} · ${say("versions.artifacts", { count: release.artifacts.length })} · <${When} at=${release.publishedAt ?? release.createdAt} /></p>
      ${status === "published" && html`<${Publish} release=${release} changed=${changed} />`}
      ${may("versions:track") && html`<details onToggle=${(event) => look(event.currentTarget.open)}><summary ...${ofRow("versions.spread", version)} />${isSeen && html`<${Spread} release=${release} />`}</details>`}<${Complaint} error=${act.error} /></div>
    <span class=${`chip ${TONES[status]}`}>${say(`versions.status.${status}`)}</span>
    ${status === "draft" && html`<button type="button" disabled=${act.isRunning || Boolean(withheld())} title=${withheld() || null} onClick=${() => act.run(() => move("publish", { status: "published" }))} ...${ofRow("versions.publish", version)} />`}
    ${status === "published" && html`<button type="button" disabled=${act.isRunning} onClick=${() => act.run(() => move("yank", { status: "yanked" }, true))} ...${ofRow("versions.yank", version)} />`}
    <button type="button" class="link" disabled=${act.isRunning} onClick=${() => act.run(remove)} ...${ofRow("action.delete", version)} /></li>`;
}

// What clients have said of a release, over all days and platforms.
function Spread({ release }) {
  const read = useRead((signal) => api.counts(release.releaseId, signal), [release.releaseId]);
  return html`<${State} of=${read}>${({ items }) => (items.length === 0 ? html`<p class="dim">${say("versions.noCounts")}</p>` : html`<dl class="facts">${Object.entries(summed(items)).map(([event, count]) => html`<dt>${say(`versions.event.${event}`)}</dt><dd>${number(count)}</dd>`)}</dl>`)}<//>`;
}

function summed(items) {
  const sums = {};
  for (const { event, count } of items) sums[event] = (sums[event] ?? 0) + count;
  return sums;
}

// Who gets a published release: the channel that points to it, and how many of its clients.
function Publish({ release, changed }) {
  const [channel, setChannel] = useState("stable");
  const [percentage, setPercentage] = useState(String(release.rollout.percentage));
  const save = useAction(async () => {
    if (Number(percentage) !== release.rollout.percentage) await api.change(release.releaseId, { rollout: { percentage: Number(percentage) } });
    await api.activate({ scopeType: release.scope.type, scopeId: release.scope.id, channel: channel.trim(), releaseId: release.releaseId });
    toast(say("versions.activated", { name: release.version, channel: channel.trim() }));
    await changed();
  });
  return html`<details><summary ...${ofRow("versions.activate", release.version)} /><${Form} action=${save} label=${say("versions.activate")} onSubmit=${() => save.run()}><div class="row">
    <${Field} label=${say("versions.channel")} value=${channel} onInput=${setChannel} error=${save.error} pointer="/channel" maxlength="32" spellcheck=${false} />
    <${Field} kind="number" min="0" max="100" label=${say("versions.percentage")} value=${percentage} onInput=${setPercentage} error=${save.error} pointer="/rollout/percentage" />
    <${Submit} action=${save} disabled=${!channel.trim() || percentage === "" || save.isRunning || Boolean(withheld())} title=${withheld() || null}>${say("versions.activate")}<//></div><//></details>`;
}
