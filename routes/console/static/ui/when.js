// A moment: relative, ticking, exact on hover.
import { signal } from "@preact/signals";
import { html } from "../html.js";
import { serverNowMs } from "../live.js";
import { clockTime, exactTime, fromNow } from "../words.js";

const TICK_MS = 10_000;
const ticks = signal(0);
setInterval(() => { if (!document.hidden) ticks.value++; }, TICK_MS);

/** @param {{at: string|number, isClock?: boolean}} props ISO 8601 or epoch milliseconds. */
export function When({ at, isClock = false }) {
  if (at === null || at === undefined) return null;
  void ticks.value; // read, so that each tick draws it anew
  const iso = new Date(at).toISOString();
  return html`<time datetime=${iso} title=${exactTime(at)}>${isClock ? clockTime(at) : fromNow(at, serverNowMs())}</time>`;
}
