// Ctrl+K: going anywhere by its name; and the list of keys.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.js";
import { go } from "../router.js";
import { say } from "../words.js";
import { useFound } from "./finding.js";
import { Field } from "./form.js";
import { known, letters } from "./keys.js";
import { Modal } from "./modal.js";

/** @param {{close: () => void, showKeys: () => void}} props */
export function Palette({ close, showKeys }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef(null);
  const found = useFound(text, [{ words: say("keys.title"), run: showKeys }]);
  const chosen = Math.min(at, found.length - 1);
  useEffect(() => { list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }); }, [chosen]);
  const choose = (one) => {
    close();
    if (one.href) go(one.href);
    else one.run();
  };
  const press = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt((chosen + step + found.length) % found.length || 0); // of none there is none, but more may come
    else if (event.key === "Enter" && !event.isComposing && found[chosen]) choose(found[chosen]);
    else return;
    event.preventDefault();
  };
  return html`<${Modal} class="palette" aria-label=${say("palette.open")} cancel=${close}>
    <input autofocus role="combobox" aria-expanded="true" aria-controls="palette-found" aria-autocomplete="list" aria-label=${say("palette.label")}
      aria-activedescendant=${found[chosen] ? `palette-${chosen}` : null} placeholder=${say("palette.label")} value=${text} maxlength="100" spellcheck=${false} autocomplete="off"
      onInput=${(event) => { setText(event.currentTarget.value); setAt(0); }} onKeyDown=${press} />
    <ul id="palette-found" role="listbox" aria-label=${say("palette.found")} ref=${list}>
      ${found.map((one, n) => html`<li key=${one.key} id=${`palette-${n}`} role="option" aria-selected=${n === chosen} onClick=${() => choose(one)}>
        <bdi class="clip">${one.words}</bdi> <span class="dim">${say(one.sort)}</span></li>`)}</ul>
    <p class="dim" role="status">${text.trim() ? say("palette.count", { count: found.length }) : say("palette.hint")}</p><//>`;
}

const ALWAYS = [
  { keys: ["Ctrl", "K"], words: "keys.find" },
  { keys: ["Ctrl", "S"], words: "keys.save" },
  { keys: ["Esc"], words: "keys.close" },
];

/** The keys that do something here, and whether single letters may. @param {{close: () => void}} props */
export function Keys({ close }) {
  const lines = [...ALWAYS.map(({ keys, words }) => [keys, say(words)]), [["?"], say("keys.title")], ...known.value.map(({ keys, words }) => [keys, words])];
  return html`<${Modal} aria-labelledby="keys-title" cancel=${close}><h2 id="keys-title">${say("keys.title")}</h2>
    <dl class="facts keys">${lines.map(([keys, words]) => html`<dt key=${words}>${keys.map((key) => html`<kbd>${key.length > 1 ? key : key.toUpperCase()}</kbd> `)}</dt><dd>${words}</dd>`)}</dl>
    <${Field} kind="switch" label=${say("keys.letters")} hint=${say("keys.lettersText")} value=${letters.value} onInput=${(isOn) => { letters.value = isOn; }} />
    <div class="buttons"><button type="button" autofocus onClick=${close}>${say("action.close")}</button></div><//>`;
}
