// A field to search by: what is typed stands in the address a moment later, so that Back and links know it.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.js";
import { place, setQuery } from "../router.js";

const TYPING_MS = 250;

/** @param {{label: string, name?: string, maxlength?: number}} props `name` of the value in the address. */
export function Search({ label, name = "query", maxlength = 100 }) {
  const known = place.value.query[name] ?? "";
  const [text, setText] = useState(known);
  const put = useRef(known); // what stands in the address by this field, or is shown in it
  useEffect(() => {
    const timer = setTimeout(() => {
      if (text === put.current) return;
      put.current = text;
      setQuery({ [name]: text });
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    if (known === put.current) return;
    put.current = known;
    setText(known);
  }, [known]);
  return html`<label class="field">${label}<input type="search" value=${text} maxlength=${maxlength} onInput=${(event) => setText(event.currentTarget.value)} /></label>`;
}
