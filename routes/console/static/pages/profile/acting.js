// Game servers that may act for one now, because one plays there.
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useRead } from "../../store.js";
import { State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

export function Acting() {
  const list = useRead((signal) => api.acting(signal));
  return html`<${State} of=${list}>${({ items }) => items.length > 0 && html`<section aria-labelledby="profile-acting"><h2 id="profile-acting">${say("acting.title")}</h2><p class="dim">${say("acting.text")}</p>
    <ul class="cards">${items.map((one) => html`<li key=${one.sessionId}><div class="grow"><bdi>${one.serverName}</bdi><p class="dim">${say("sessions.since")} <${When} at=${one.startedAt} /> · ${say("grants.until")} <${When} at=${one.expiresAt} /></p></div></li>`)}</ul></section>`}<//>`;
}
