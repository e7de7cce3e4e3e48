// A queue for the keyboard: J and K choose, a number judges, U takes the last verdict back.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "../../html.js";
import { letters, useLetters } from "../../ui/keys.js";
import { Empty } from "../../ui/states.js";
import { undoLast } from "../../ui/toast.js";
import { say } from "../../words.js";

/**
 * @param {{items: any[], keyOf: (item: any) => string, draw: (item: any) => any, label: string,
 *   verdicts: Array<{name: string, words: string, run: (item: any) => unknown}>}} props
 */
export function Queue({ items, keyOf, draw, verdicts, label }) {
  const [at, setAt] = useState(0);
  const list = useRef(null);
  const chosen = Math.min(at, items.length - 1);
  useEffect(() => { list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }); }, [chosen]);
  useLetters(useMemo(() => [
    { keys: "j", words: say("queue.next"), run: () => setAt(Math.min(chosen + 1, items.length - 1)) },
    { keys: "k", words: say("queue.previous"), run: () => setAt(Math.max(chosen - 1, 0)) },
    ...verdicts.map((verdict, n) => ({ keys: String(n + 1), words: verdict.words, run: () => items[chosen] && verdict.run(items[chosen]) })),
    { keys: "u", words: say("action.undo"), run: undoLast },
  ], [chosen, items, verdicts]));
  if (items.length === 0) return html`<${Empty}>${say("queue.empty")}<//>`;
  return html`<p class="dim">${say(letters.value ? "queue.keys" : "queue.keysOff", { count: verdicts.length })}</p>
    <ol class="cards queue" ref=${list} aria-label=${label}>${items.map((item, n) => html`<li key=${keyOf(item)} aria-current=${n === chosen ? "true" : null} onClick=${() => setAt(n)} onFocusIn=${() => setAt(n)}>
      <div class="grow">${draw(item)}</div>
      ${verdicts.map((verdict, key) => html`<button key=${verdict.name} type="button" onClick=${() => verdict.run(item)}>${letters.value && html`<kbd>${key + 1}</kbd> `}${verdict.words}</button>`)}</li>`)}</ol>`;
}
