// What a network shows to everybody: name, address, summary, and a launcher profile to play with.
import { useState } from "preact/hooks";
import { networks as api, shares } from "../../api.js";
import { html } from "../../html.js";
import { useAction, useRead } from "../../store.js";
import { Field } from "../../ui/form.js";
import { SaveBar } from "../../ui/savebar.js";
import { State } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";
import { say } from "../../words.js";

/** @param {{network: any, changed: () => unknown}} props */
export function PublicProfile({ network, changed }) {
  const own = useRead((signal) => shares.list(signal));
  return html`<section aria-label=${say("networks.tab.profile")}><${State} of=${own}>${({ items }) => html`<${Editor} network=${network} offered=${items} changed=${changed} />`}<//></section>`;
}

function Editor({ network, offered, changed }) {
  const before = { name: network.name, slug: network.slug ?? "", publicSummary: network.publicSummary ?? "", share: network.publicProfileMode === "share_code" ? network.publicProfileShareCode ?? "" : "" };
  const [fields, setFields] = useState(before);
  const set = (name) => (value) => setFields({ ...fields, [name]: value });
  const save = useAction(async () => {
    await api.change(network.networkId, {
      name: fields.name.trim(), slug: fields.slug.trim() || null, publicSummary: fields.publicSummary.trim() || null,
      publicProfileMode: fields.share ? "share_code" : "none", publicProfileShareCode: fields.share || null,
    });
    toast(say("savebar.saved"));
    await changed();
  });
  const codes = [...new Set([...offered.map((share) => share.code), ...(before.share ? [before.share] : [])])];
  const nameOf = (code) => offered.find((share) => share.code === code)?.name ?? code;
  return html`<div class="form">
    <${Field} label=${say("networks.name")} value=${fields.name} onInput=${set("name")} error=${save.error} pointer="/name" maxlength="100" />
    <${Field} label=${say("networks.slug")} hint=${say("networks.slugHint")} value=${fields.slug} onInput=${set("slug")} error=${save.error} pointer="/slug" maxlength="32" spellcheck=${false} />
    <${Field} kind="area" rows="3" label=${say("networks.summary")} value=${fields.publicSummary} onInput=${set("publicSummary")} error=${save.error} pointer="/publicSummary" maxlength="500" />
    <${Field} kind="select" label=${say("networks.share")} hint=${say("networks.shareHint")} value=${fields.share} onInput=${set("share")} error=${save.error} pointer="/publicProfileShareCode" options=${[["", say("server.noNetwork")], ...codes.map((code) => [code, nameOf(code)])]} />
    ${network.slug && html`<p>${say("networks.publicPage")} <a href=${api.publicPage(network.slug)} target="_blank" rel="noopener">${network.slug}</a></p>`}
    <${SaveBar} isChanged=${JSON.stringify(fields) !== JSON.stringify(before)} action=${save} onSave=${() => save.run()} onDiscard=${() => setFields(before)} /></div>`;
}
