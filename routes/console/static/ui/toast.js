// What has happened, said once at the edge of the page; with a way back where there is one.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { html } from "../html.js";
import { ofRow } from "./row.js";

/** All that are shown, oldest first: {text, undo, tone}. */
export const toasts = signal([]);

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
  wait(one);
}

/** Take back what was done last and can still be taken back; false where there is nothing. */
export function undoLast() {
  const last = toasts.value.findLast((one) => one.undo);
  if (!last) return false;
  takeBack(last);
  return true;
}

async function takeBack(one) {
  dismiss(one);
  try {
    await one.undo();
  } catch (error) {
    toast(error.message, { tone: "bad" });
  }
}

function wait(one) {
  clearTimeout(one.timer);
  one.timer = setTimeout(() => dismiss(one), STAYS_MS);
}

function dismiss(one) {
  clearTimeout(one.timer);
  toasts.value = toasts.value.filter((other) => other !== one);
}

// The button that had the focus is gone with its toast: it goes back to the page.
function press(act) {
  act();
  document.getElementById("main")?.focus();
}

function leave(one, event) {
  const box = event.currentTarget;
  if (!box.matches(":hover") && !box.contains(event.relatedTarget ?? document.activeElement)) wait(one);
}

/** All toasts; one that has the pointer or the focus stays. */
export function Toasts() {
  useEffect(() => () => toasts.value.forEach(dismiss), []);
  return html`<div class="toasts" role="status" aria-atomic="false">
  ${toasts.value.map((one) => html`<div key=${one.key} class=${`toast ${one.tone}`}
      onMouseEnter=${() => clearTimeout(one.timer)} onMouseLeave=${(event) => leave(one, event)}
      onFocusIn=${() => clearTimeout(one.timer)} onFocusOut=${(event) => leave(one, event)}>
    <span>${one.text}</span>
    ${one.undo && html`<button type="button" ...${ofRow("action.undo", one.text)} onClick=${() => press(() => takeBack(one))} />`}
    <button type="button" class="quiet" aria-label=${ofRow("action.dismiss", one.text)["aria-label"]} onClick=${() => press(() => dismiss(one))}>×</button>
  </div>`)}
  </div>`;
}
