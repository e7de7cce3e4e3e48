// What a network tells a Discord guild.
import { networks as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Conflict, useEdited } from "../../ui/edited.js";
import { Field } from "../../ui/form.js";
import { SaveBar } from "../../ui/savebar.js";
import { Complaint, State } from "../../ui/states.js";
import { say, sayOf } from "../../words.js";

const EVENTS = ["server_online", "server_offline", "member_joined", "publication_listed", "news_published"];

/** @param {{network: any}} props */
export function Discord({ network: { networkId } }) {
  const read = useRead((signal) => api.discord(networkId, signal), [networkId]);
  return html`<section aria-labelledby="network-discord"><h2 id="network-discord">${say("discord.title")}</h2><p class="dim">${say("discord.text")}</p>
    <${State} of=${read}>${(kept) => html`<${Editor} key=${networkId} networkId=${networkId} kept=${kept} />`}<//></section>`;
}

// Each event is a switch of its own, so that what somebody else has switched stands beside it.
const fieldsOf = ({ discord }) => ({
  guildId: discord?.guildId ?? "", webhookUrl: "", isForgotten: false, inviteUrl: discord?.inviteUrl ?? "",
  ...Object.fromEntries(EVENTS.map((event) => [event, discord ? discord.events.includes(event) : true])),
});

function bodyOf({ guildId, webhookUrl, isForgotten, inviteUrl, ...events }) {
  const address = webhookUrl.trim() || (isForgotten ? null : undefined); // what is left out stays
  return { guildId: guildId.trim(), events: EVENTS.filter((event) => events[event]), inviteUrl: inviteUrl.trim() || null, ...(address !== undefined && { webhookUrl: address }) };
}

function Editor({ networkId, kept }) {
  const { value: { discord }, fields, set, hint, save, isChanged, discard, conflict, begin } = useEdited({
    kept, fieldsOf, read: () => api.discord(networkId), write: (wanted, etag) => api.setDiscord(networkId, bodyOf(wanted), etag),
  });
  const remove = useAction(async () => {
    if (!(await ask({ title: say("discord.remove"), text: say("discord.removeText"), confirm: say("discord.remove"), isDanger: true }))) return;
    await api.removeDiscord(networkId);
    begin(await api.discord(networkId));
  });
  const hasWebhook = discord && discord.webhookStatus !== "none";
  const webhookHint = conflict ? "discord.webhookTheirs" : hasWebhook ? "schema.secretSet" : "discord.webhookHint";
  return html`<div class="form"><${Conflict} of=${conflict} />
    ${discord && html`<p><span class=${`chip ${discord.webhookStatus === "active" ? "good" : "warn"}`}>${sayOf("discord.webhook", discord.webhookStatus)}</span></p>`}
    <${Field} label=${say("discord.guild")} hint=${hint("guildId")} value=${fields.guildId} onInput=${set("guildId")} error=${save.error} pointer="/guildId" maxlength="20" inputmode="numeric" />
    <${Field} kind="password" label=${say("discord.webhookUrl")} hint=${say(webhookHint)} value=${fields.webhookUrl} onInput=${set("webhookUrl")} error=${save.error} pointer="/webhookUrl" maxlength="400" autocomplete="off" />
    ${hasWebhook && html`<${Field} kind="switch" label=${say("discord.forget")} hint=${say("discord.forgetText")} value=${fields.isForgotten} disabled=${fields.webhookUrl.trim() !== ""} onInput=${set("isForgotten")} />`}
    <${Field} kind="url" label=${say("discord.invite")} hint=${hint("inviteUrl")} value=${fields.inviteUrl} onInput=${set("inviteUrl")} error=${save.error} pointer="/inviteUrl" maxlength="400" />
    <fieldset><legend>${say("discord.events")}</legend>${EVENTS.map((event) => html`<${Field} key=${event} kind="switch" label=${say(`discord.event.${event}`)} hint=${hint(event)} value=${fields[event]} onInput=${set(event)} />`)}</fieldset>
    ${discord && html`<div class="buttons start"><button type="button" disabled=${remove.isRunning} onClick=${() => remove.run()}>${say("discord.remove")}</button></div>`}<${Complaint} error=${remove.error} />
    <${SaveBar} isChanged=${isChanged} action=${save} onSave=${() => save.run()} onDiscard=${discard} /></div>`;
}
