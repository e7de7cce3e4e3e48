// One network, in tabs.
import { html } from "../../html.js";
import { Id } from "../../ui/chip.js";
import { PublicationForm } from "../../ui/publication-form.js";
import { say } from "../../words.js";
import { Danger } from "./danger.js";
import { Discord } from "./discord.js";
import { Dns } from "./dns.js";
import { Domains } from "./domains.js";
import { Machines } from "./machines.js";
import { PublicProfile } from "./public-profile.js";

const TABS = ["servers", "domains", "profile", "publication", "dns", "discord", "danger"];

/** @param {{network: any, tab?: string, changed: () => unknown}} props */
export function Network({ network, tab, changed }) {
  const shown = TABS.includes(tab) ? tab : TABS[0];
  return html`<p><a href="/app/networks">${say("networks.all")}</a> · <${Id} id=${network.networkId} what=${say("networks.id")} /></p>
    <nav class="tabs" aria-label=${say("networks.tabs")}>${TABS.map((one) => html`<a key=${one} href=${`/app/networks/${network.networkId}/${one}`} aria-current=${one === shown ? "page" : null}>${say(`networks.tab.${one}`)}</a>`)}</nav>
    <${Tab} name=${shown} network=${network} changed=${changed} />`;
}

function Tab({ name, network, changed }) {
  switch (name) {
    case "domains": return html`<${Domains} network=${network} />`;
    case "profile": return html`<${PublicProfile} network=${network} changed=${changed} />`;
    case "publication": return html`<${PublicationForm} target="network" id=${network.networkId} />`;
    case "dns": return html`<${Dns} network=${network} />`;
    case "discord": return html`<${Discord} network=${network} />`;
    case "danger": return html`<${Danger} network=${network} changed=${changed} />`;
    default: return html`<${Machines} network=${network} />`;
  }
}
