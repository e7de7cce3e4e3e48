// A moment: relative, ticking, exact on hover.
import { signal } from "@preact/signals";
import { html } from "../html.js";
import { clockTime, exactTime, fromNow } from "../words.js";

const nowMs = signal(Date.now());
setInterval(() => { if (!document.hidden) nowMs.value = Date.now(); }, 10_000);

/** @param {{at: string|number, isClock?: boolean}} props ISO 8601 or epoch milliseconds. */
export function When({ at, isClock = false }) {
  if (at === null || at === undefined) return null;
  const iso = new Date(at).toISOString();
  return html`<time datetime=${iso} title=${exactTime(at)}>${isClock ? clockTime(at) : fromNow(at, nowMs.value)}</time>`;
}
