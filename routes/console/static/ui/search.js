// A field to search by: what is typed stands in the address a moment later, so that Back and links know it.
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { place, setQuery } from "../router.js";

const TYPING_MS = 250;

/** @param {{label: string, name?: string, maxlength?: number}} props `name` of the value in the address. */
export function Search({ label, name = "query", maxlength = 100 }) {
  const known = place.value.query[name] ?? "";
  const [text, setText] = useState(known);
  useEffect(() => {
    const timer = setTimeout(() => { if (text !== known) setQuery({ [name]: text }); }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<label class="field">${label}<input type="search" value=${text} maxlength=${maxlength} onInput=${(event) => setText(event.currentTarget.value)} /></label>`;
}
