// What has happened, said once at the edge of the page; with a way back where there is one.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { html } from "../html.js";
import { say } from "../words.js";

const toasts = signal([]);
const STAYS_MS = 8_000;
const MOST = 4;
let nextKey = 1;

/**
 * Say that something has happened.
 *
 * @param {string} text
 * @param {{undo?: () => unknown, tone?: "plain"|"bad"}} [options] `undo` takes it back, for eight seconds.
 */
export function toast(text, { undo = null, tone = "plain" } = {}) {
  const one = { key: nextKey++, text, undo, tone };
  toasts.value = [...toasts.value.slice(1 - MOST), one];
  keep(one);
}

function keep(one) {
  one.timer = setTimeout(() => dismiss(one), STAYS_MS);
}

function dismiss(one) {
  clearTimeout(one.timer);
  toasts.value = toasts.value.filter((other) => other !== one);
}

/** All toasts; one that has the pointer or the focus stays. */
export function Toasts() {
  useEffect(() => () => toasts.value.forEach(dismiss), []);
  return html`<div class="toasts" role="status" aria-live="polite">
  ${toasts.value.map((one) => html`<div key=${one.key} class=${`toast ${one.tone}`}
      onMouseEnter=${() => clearTimeout(one.timer)} onMouseLeave=${() => keep(one)}
      onFocusIn=${() => clearTimeout(one.timer)} onFocusOut=${() => keep(one)}>
    <span>${one.text}</span>
    ${one.undo && html`<button type="button" onClick=${() => { dismiss(one); one.undo(); }}>${say("action.undo")}</button>`}
    <button type="button" class="quiet" aria-label=${say("action.dismiss")} onClick=${() => dismiss(one)}>×</button>
  </div>`)}
  </div>`;
}
