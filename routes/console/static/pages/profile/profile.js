// Oneself: name, level and rights, how pages look, privacy, what one shares, and where one is signed in.
import { profile as api } from "../../api.js";
import { html } from "../../html.js";
import { useRead } from "../../store.js";
import { Id } from "../../ui/chip.js";
import { LanguageChoice } from "../../ui/language.js";
import { State } from "../../ui/states.js";
import { ThemeChoice } from "../../ui/theme.js";
import { number, say, sayOf } from "../../words.js";
import { Acting } from "./acting.js";
import { Identities } from "./identities.js";
import { Privacy } from "./privacy.js";
import { Rights } from "./rights.js";
import { Sessions } from "./sessions.js";
import { Shares } from "./shares.js";

export default function Profile() {
  const own = useRead((signal) => api.own(signal));
  return html`<div class="page"><h1 tabindex="-1">${say("profile.title")}</h1>
    <${State} of=${own}>${(self) => html`<section aria-labelledby="profile-self"><h2 id="profile-self"><bdi>${self.name}</bdi></h2>
      <p>${sayOf("users.role", self.highestRoleLabel.toLowerCase().replace(" ", "-"), self.highestRoleLabel)} · <${Id} id=${self.userId} what=${say("profile.id")} /></p><${Level} /></section>`}<//>
    <${Appearance} /><${Privacy} /><${Shares} />
    <${Sessions} /><${Identities} /><${Acting} />
    <${State} of=${own}>${(self) => html`<${Rights} nodes=${self.permissions} />`}<//>
  </div>`;
}

function Level() {
  const read = useRead((signal) => api.level(signal));
  return html`<${State} of=${read}>${({ level, xp, xpForNext }) => html`<p>${say("profile.level", { level })}</p>
    <meter min="0" max=${xpForNext} value=${xp} aria-label=${say("profile.experience")}></meter><p class="dim">${say("profile.toNext", { xp, all: number(xpForNext), next: level + 1 })}</p>`}<//>`;
}

const Appearance = () => html`<section aria-labelledby="profile-look"><h2 id="profile-look">${say("profile.appearance")}</h2><div class="form">
  <div class="field"><label for="profile-language">${say("language.title")}</label><${LanguageChoice} id="profile-language" /><p class="dim">${say("language.hint")}</p></div>
  <div class="field"><span class="label">${say("theme.title")}</span><${ThemeChoice} /></div></div></section>`;
