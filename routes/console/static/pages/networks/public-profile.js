// What a network shows to everybody: name, address, summary, and a launcher profile to play with.
import { networks as api, shares } from "../../api.js";
import { html } from "../../html.js";
import { useRead } from "../../store.js";
import { Conflict, useEdited } from "../../ui/edited.js";
import { Field } from "../../ui/form.js";
import { SaveBar } from "../../ui/savebar.js";
import { State } from "../../ui/states.js";
import { say } from "../../words.js";

/** @param {{network: any, changed: () => unknown}} props */
export function PublicProfile({ network: { networkId }, changed }) {
  const own = useRead((signal) => shares.all(signal));
  const read = useRead((signal) => api.read(networkId, signal), [networkId]);
  return html`<section aria-label=${say("networks.tab.profile")}><${State} of=${read}>${(kept) => html`<${Editor} kept=${kept} offered=${own.data?.items ?? []} changed=${changed} />`}<//></section>`;
}

const fieldsOf = ({ name, slug, publicSummary, publicProfileMode, publicProfileShareCode }) =>
  ({ name, slug: slug ?? "", publicSummary: publicSummary ?? "", share: publicProfileMode === "share_code" ? publicProfileShareCode ?? "" : "" });

const changesOf = ({ name, slug, publicSummary, share }) => ({
  name: name.trim(), slug: slug.trim() || null, publicSummary: publicSummary.trim() || null,
  publicProfileMode: share ? "share_code" : "none", publicProfileShareCode: share || null,
});

function Editor({ kept, offered, changed }) {
  const { networkId } = kept.value;
  const { value: network, fields, set, hint, save, isChanged, discard, conflict } = useEdited({
    kept, fieldsOf, changed, read: () => api.read(networkId), write: (wanted, etag) => api.change(networkId, changesOf(wanted), etag),
  });
  const codes = [...new Set([...offered.map((share) => share.code), ...[fieldsOf(network).share].filter(Boolean)])];
  const nameOf = (code) => offered.find((share) => share.code === code)?.name ?? code;
  return html`<div class="form"><${Conflict} of=${conflict} />
    <${Field} label=${say("networks.name")} hint=${hint("name")} value=${fields.name} onInput=${set("name")} error=${save.error} pointer="/name" maxlength="100" />
    <${Field} label=${say("networks.slug")} hint=${hint("slug", say("networks.slugHint"))} value=${fields.slug} onInput=${set("slug")} error=${save.error} pointer="/slug" maxlength="32" spellcheck=${false} />
    <${Field} kind="area" rows="3" label=${say("networks.summary")} hint=${hint("publicSummary")} value=${fields.publicSummary} onInput=${set("publicSummary")} error=${save.error} pointer="/publicSummary" maxlength="500" />
    <${Field} kind="select" label=${say("networks.share")} hint=${hint("share", say("networks.shareHint"), nameOf)} value=${fields.share} onInput=${set("share")} error=${save.error} pointer="/publicProfileShareCode" options=${[["", say("server.noNetwork")], ...codes.map((code) => [code, nameOf(code)])]} />
    ${network.slug && html`<p>${say("networks.publicPage")} <a href=${api.publicPage(network.slug)} target="_blank" rel="noopener">${network.slug}</a></p>`}
    <${SaveBar} isChanged=${isChanged} action=${save} onSave=${() => save.run()} onDiscard=${discard} /></div>`;
}
