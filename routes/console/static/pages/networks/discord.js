// What a network tells a Discord guild.
import { useState } from "preact/hooks";
import { networks as api } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { ask } from "../../ui/dialog.js";
import { Field, Form, Submit } from "../../ui/form.js";
import { Complaint, State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { say, sayOf } from "../../words.js";

const EVENTS = ["server_online", "server_offline", "member_joined", "publication_listed", "news_published"];

/** @param {{network: any}} props */
export function Discord({ network }) {
  const read = useRead((signal) => api.discord(network.networkId, signal), [network.networkId]);
  const remove = useAction(async () => {
    if (!(await ask({ title: say("discord.remove"), text: say("discord.removeText"), confirm: say("discord.remove"), isDanger: true }))) return;
    await api.removeDiscord(network.networkId);
    read.change({ discord: null });
  });
  return html`<section aria-labelledby="network-discord"><h2 id="network-discord">${say("discord.title")}</h2><p class="dim">${say("discord.text")}</p>
    <${State} of=${read}>${({ discord }) => html`${discord && html`<p><span class=${`chip ${discord.webhookStatus === "active" ? "good" : "warn"}`}>${sayOf("discord.webhook", discord.webhookStatus)}</span></p>`}
      <${Editor} key=${discord?.updatedAt ?? "new"} network=${network} discord=${discord} saved=${read.change} />
      ${discord && html`<div class="buttons start"><button type="button" disabled=${remove.isRunning} onClick=${() => remove.run()}>${say("discord.remove")}</button></div>`}<${Complaint} error=${remove.error} />`}<//></section>`;
}

function Editor({ network, discord, saved }) {
  const [fields, setFields] = useState({ guildId: discord?.guildId ?? "", webhookUrl: "", inviteUrl: discord?.inviteUrl ?? "", events: discord?.events ?? EVENTS });
  const set = (name) => (value) => setFields({ ...fields, [name]: value });
  const toggle = (event, isOn) => set("events")(isOn ? [...fields.events, event] : fields.events.filter((one) => one !== event));
  const save = useAction(async () => {
    const webhookUrl = fields.webhookUrl.trim();
    saved(await api.setDiscord(network.networkId, { guildId: fields.guildId.trim(), events: fields.events, inviteUrl: fields.inviteUrl.trim() || null, ...(webhookUrl && { webhookUrl }) }));
    toast(say("savebar.saved"));
  });
  return html`<${Form} action=${save} label=${say("discord.title")} onSubmit=${() => save.run()}>
    <${Field} label=${say("discord.guild")} value=${fields.guildId} onInput=${set("guildId")} error=${save.error} pointer="/guildId" maxlength="20" inputmode="numeric" />
    <${Field} kind="password" label=${say("discord.webhookUrl")} hint=${say(discord ? "schema.secretSet" : "discord.webhookHint")} value=${fields.webhookUrl} onInput=${set("webhookUrl")} error=${save.error} pointer="/webhookUrl" maxlength="400" autocomplete="off" />
    <${Field} kind="url" label=${say("discord.invite")} value=${fields.inviteUrl} onInput=${set("inviteUrl")} error=${save.error} pointer="/inviteUrl" maxlength="400" />
    <fieldset><legend>${say("discord.events")}</legend>${EVENTS.map((event) => html`<${Field} key=${event} kind="switch" label=${say(`discord.event.${event}`)} value=${fields.events.includes(event)} onInput=${(isOn) => toggle(event, isOn)} />`)}</fieldset>
    <${Submit} action=${save} disabled=${!fields.guildId.trim() || save.isRunning}>${say("action.save")}<//><//>`;
}
