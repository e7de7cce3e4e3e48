// An id that can be copied.
import { html } from "../html.js";
import { say } from "../words.js";
import { toast } from "./toast.js";

/** An id: short, in monospace, copied by a click. */
export function Id({ id, what }) {
  const copy = async () => {
    const isCopied = await copyText(id);
    toast(say(isCopied ? "id.copied" : "id.select"));
  };
  const short = id.length > 14 ? `${id.slice(0, 8)}…` : id;
  return html`<button type="button" class="id" title=${id} onClick=${copy}><span class="hidden">${say("id.copy", { what, id })}</span><span aria-hidden="true">${short}</span></button>`;
}

/** Copy to the clipboard; false where the page may not (plain http in a home network). */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
