// What a screen reader is told and the page does not show: the title of a page that has come, and how many messages.
import { signal } from "@preact/signals";
import { html } from "../html.js";

const said = signal("");

/** Have a text read out, after what is being read now. The same twice in a row is read twice. */
export function announce(text) {
  // A region is read when its text changes: a space that is not heard tells one from the other.
  said.value = said.peek() === text ? `${text}\u00a0` : text;
}

/** The region that is read out; it must be in the page before it says anything. */
export const Announcements = () => html`<p class="hidden" role="status">${said.value}</p>`;
