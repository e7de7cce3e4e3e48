// A queue for the keyboard: J and K choose, a number judges. Letters work only here, and nowhere while one is typing.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../../html.js";
import { Empty } from "../../ui/states.js";
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
  // Before anybody sees the queue: who is quick presses a key as soon as there is something to judge.
  useLayoutEffect(() => {
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
      if (event.key === "j") setAt(Math.min(chosen + 1, items.length - 1));
      else if (event.key === "k") setAt(Math.max(chosen - 1, 0));
      else if (verdicts[Number(event.key) - 1] && items[chosen]) verdicts[Number(event.key) - 1].run(items[chosen]);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [chosen, items, verdicts]);
  if (items.length === 0) return html`<${Empty}>${say("queue.empty")}<//>`;
  return html`<p class="dim">${say("queue.keys", { count: verdicts.length })}</p>
    <ol class="cards queue" ref=${list} aria-label=${label}>${items.map((item, n) => html`<li key=${keyOf(item)} aria-current=${n === chosen ? "true" : null} onClick=${() => setAt(n)}>
      <div class="grow">${draw(item)}</div>
      ${verdicts.map((verdict, key) => html`<button key=${verdict.name} type="button" onClick=${() => verdict.run(item)}><kbd>${key + 1}</kbd> ${verdict.words}</button>`)}</li>`)}</ol>`;
}
