// A queue for the keyboard: J and K choose, a number judges, X picks several, U takes the last verdict back.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "../../html.js";
import { useShared } from "../../live.js";
import { useAction } from "../../store.js";
import { letters, useLetters } from "../../ui/keys.js";
import { Choice, ChooseAll, SelectionBar, useSelection } from "../../ui/selection.js";
import { Complaint, Empty } from "../../ui/states.js";
import { toast, undoLast } from "../../ui/toast.js";
import { say } from "../../words.js";

/**
 * @param {object} props
 * @param {any[]} props.items
 * @param {(item: any) => string} props.keyOf
 * @param {(item: any) => string} props.nameOf
 * @param {(item: any) => any} props.draw
 * @param {string} props.label
 * @param {string} props.reasonWords who reads the reason that is given with a verdict.
 * @param {string} [props.emptyWords]
 * @param {Array<{name: string, words: string, said: (item: any) => string, takesReason?: boolean,
 *   run: (item: any, reason: string|null) => Promise<unknown>, undo: (item: any) => Promise<unknown>}>} props.verdicts
 * @param {(items: any[], isUndone: boolean) => unknown} props.changed hears what was judged, or taken back.
 */
export function Queue({ items, keyOf, nameOf, draw, verdicts, label, reasonWords, emptyWords = say("queue.empty"), changed }) {
  const [at, setAt] = useState(null); // the key of the chosen one, and where it is
  const [reason, setReason] = useState("");
  const list = useRef(null);
  const field = useRef(null);
  const found = items.findIndex((item) => keyOf(item) === at?.key);
  const chosen = found >= 0 ? found : Math.max(0, Math.min(at?.n ?? 0, items.length - 1));
  const selection = useSelection(items, { keyOf, nameOf });
  const goTo = (n) => { if (items[n]) setAt({ key: keyOf(items[n]), n }); };
  const said = reason.trim() || null;
  const judge = useAction(async (verdict, item) => {
    await verdict.run(item, said);
    setReason("");
    toast(verdict.said(item), { undo: async () => { await verdict.undo(item); await changed([item], true); } });
    await changed([item], false);
  });
  // What is marked stays marked whatever comes before it: a key judges what its reader has seen.
  useLayoutEffect(() => { if (items[chosen] && (found < 0 || at.n !== chosen)) goTo(chosen); }, [items, chosen]);
  useEffect(() => { list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }); }, [chosen]);
  useLetters(useMemo(() => [
    { keys: "j", words: say("queue.next"), run: () => goTo(chosen + 1) },
    { keys: "k", words: say("queue.previous"), run: () => goTo(chosen - 1) },
    { keys: "x", words: say("queue.pick"), run: () => items[chosen] && selection.toggle(items[chosen]) },
    { keys: "r", words: say("queue.reason"), run: () => field.current?.focus() },
    ...verdicts.map((verdict, n) => ({ keys: String(n + 1), words: verdict.words, run: () => items[chosen] && judge.run(verdict, items[chosen]) })),
    { keys: "u", words: say("action.undo"), run: undoLast },
  ], [chosen, items, verdicts, said, selection.chosen.length]));
  if (items.length === 0) return html`<${Empty}>${emptyWords}<//>`;
  const many = verdicts.map((verdict) => ({ ...verdict, run: (item) => verdict.run(item, said) }));
  const judged = (done, isUndone) => {
    setReason("");
    return changed(done, isUndone);
  };
  // Whoever has written the reason goes on with the keys.
  const leave = (event) => { if (["Enter", "Escape"].includes(event.key)) event.currentTarget.blur(); };
  return html`<label class="field">${reasonWords}<input ref=${field} value=${reason} maxlength="500" onInput=${(event) => setReason(event.currentTarget.value)} onKeyDown=${leave} /></label>
    <p class="dim">${say(letters.value ? "queue.keys" : "queue.keysOff", { count: verdicts.length })}</p>
    <${Complaint} error=${judge.error} /><${ChooseAll} of=${selection} />
    <ol class="cards queue" ref=${list} aria-label=${label}>${items.map((item, n) => html`<li key=${keyOf(item)} aria-current=${n === chosen ? "true" : null} onClick=${() => goTo(n)} onFocusIn=${() => goTo(n)}>
      <${Choice} of=${selection} item=${item} /><div class="grow">${draw(item)}</div>
      ${verdicts.map((verdict, key) => html`<button key=${verdict.name} type="button" disabled=${judge.isRunning} aria-label=${`${letters.value ? `${key + 1} ` : ""}${say("row.of", { what: verdict.words, name: nameOf(item) })}`} onClick=${() => judge.run(verdict, item)}>${letters.value && html`<kbd>${key + 1}</kbd> `}${verdict.words}</button>`)}</li>`)}</ol>
    <${SelectionBar} of=${selection} actions=${many} changed=${judged} />`;
}

// How long the number that waits may be ahead of what is shown: for as long as its next frame is on the way.
const BEHIND_MS = 3_000;

/**
 * Read a queue again when moderators are told that more waits in it, that something has come last which is not shown (the
 * number stays where another was judged meanwhile, and at its bound), or that more waits than is shown.
 *
 * @param {{number: "reports"|"capes", newest: "newestReportId"|"newestCapeId"}} told where the channel says so.
 * @param {any[]|null} shown null where it is no queue, or not there yet.
 * @param {boolean} isWhole whether nothing waits beyond what is shown.
 * @param {() => unknown} reload
 */
export function useArrivals({ number, newest: last }, shown, isWhole, reload) {
  const { [number]: count = null, [last]: newest = null } = useShared("moderation").data ?? {};
  const isThere = shown !== null;
  const before = useRef({ count: null });
  useEffect(() => {
    const was = before.current;
    before.current = { count, newest, isThere };
    const isMore = was.count !== null && count > was.count;
    const isAnother = newest !== null && isThere && (newest !== was.newest || !was.isThere);
    if (isMore || (isAnother && !shown.some(({ id }) => id === newest))) reload();
  }, [count, newest, isThere]);
  useEffect(() => {
    if (!isThere || !isWhole || !(count > shown.length)) return undefined;
    const timer = setTimeout(reload, BEHIND_MS);
    return () => clearTimeout(timer);
  }, [count, shown, isWhole]);
}

/** A list without some, by their ids. */
export const without = (list, gone) => list.filter((one) => !gone.some(({ id }) => id === one.id));
