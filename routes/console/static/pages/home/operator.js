// For those who run the service: whether it is well, and what waits for a moderator.
import { useState } from "preact/hooks";
import { html } from "../../html.js";
import { useChannel, useShared } from "../../live.js";
import { may, MODERATOR, SUPER_ADMIN } from "../../session.js";
import { healthOf } from "../../ui/health.js";
import { say } from "../../words.js";
import { Tile } from "./tile.js";

export function Operator() {
  const queues = useShared(may(MODERATOR) ? "moderation" : null).data;
  return html`<section aria-labelledby="home-operate"><h2 id="home-operate">${say("group.operate")}</h2>${may(SUPER_ADMIN) && html`<${Health} />`}
    ${queues && html`<div class="tiles"><${Tile} href="/app/operate/reports" title=${say("reports.title")} count=${queues.reports} /><${Tile} href="/app/operate/capes" title=${say("moderation.capes")} count=${queues.capes} /></div>`}</section>`;
}

function Health() {
  const [values, setValues] = useState(null);
  useChannel("metrics", (frames) => setValues(frames.at(-1).data.values), { mode: "delta" });
  if (!values) return null;
  const health = healthOf(values);
  return html`<p class=${`banner ${health === "metrics.well" ? "" : "failing"}`} role="status">${say(health)} <a href="/app/operate">${say("metrics.title")}</a></p>`;
}
