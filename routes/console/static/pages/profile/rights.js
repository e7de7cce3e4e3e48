// What one may do, in words.
import { html } from "../../html.js";
import { knows, say } from "../../words.js";

/** @param {{nodes: string[]}} props permission nodes that one holds. */
export function Rights({ nodes }) {
  const [told, others] = [nodes.filter((node) => knows(`right.${node}`)), nodes.filter((node) => !knows(`right.${node}`))];
  return html`<section aria-labelledby="profile-rights"><h2 id="profile-rights">${say("profile.may")}</h2>
    <details><summary>${say("profile.rights", { count: nodes.length })}</summary><ul class="columns told">${told.map((node) => html`<li key=${node}>${say(`right.${node}`)} <code>${node}</code></li>`)}
      ${others.map((node) => html`<li key=${node}><code>${node}</code></li>`)}</ul></details></section>`;
}
