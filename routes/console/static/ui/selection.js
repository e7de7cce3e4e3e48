// Several of a list, and the same done with all of them: one after the other, and whatever becomes of the others.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.js";
import { place, setQuery } from "../router.js";
import { useAction } from "../store.js";
import { listed, say } from "../words.js";
import { ask } from "./dialog.js";
import { Complaint } from "./states.js";
import { toast } from "./toast.js";

const MOST = 50;
const MOST_NAMED = 10;
const STOPS = new Set([0, 401, 403, 429]); // what no other of them would get past either

/**
 * What of a list is chosen: it stands in the address, and what has left the list is chosen no more.
 *
 * @param {any[]} items
 * @param {{keyOf: (item: any) => string, nameOf: (item: any) => string, isFree?: (item: any) => boolean}} of `isFree` says
 *   which may be chosen at all.
 */
export function useSelection(items, { keyOf, nameOf, isFree = () => true }) {
  const keys = new Set((place.value.query.chosen ?? "").split(","));
  const free = items.filter(isFree);
  const chosen = free.filter((item) => keys.has(keyOf(item))).slice(0, MOST);
  const choose = (wanted) => setQuery({ chosen: wanted.slice(0, MOST).map(keyOf).join(",") });
  const has = (item) => chosen.some((one) => keyOf(one) === keyOf(item));
  const toggle = (item) => choose(has(item) ? chosen.filter((one) => keyOf(one) !== keyOf(item)) : [...chosen, item]);
  return { keyOf, nameOf, isFree, free, chosen, choose, has, toggle };
}

/** What chooses one of the list. @param {{of: ReturnType<typeof useSelection>, item: any}} props */
export function Choice({ of, item }) {
  if (!of.isFree(item)) return html`<span class="choice"></span>`;
  const isFull = of.chosen.length >= MOST && !of.has(item);
  return html`<label class="choice"><input type="checkbox" checked=${of.has(item)} disabled=${isFull} aria-label=${say("selection.choose", { name: of.nameOf(item) })} onChange=${() => of.toggle(item)} /></label>`;
}

/** What chooses all that are shown, or none. @param {{of: ReturnType<typeof useSelection>}} props */
export function ChooseAll({ of }) {
  const box = useRef(null);
  const most = Math.min(of.free.length, MOST);
  const isWhole = of.chosen.length === most;
  useEffect(() => { if (box.current) box.current.indeterminate = of.chosen.length > 0 && !isWhole; }, [of.chosen.length, isWhole]);
  if (most < 2) return null;
  return html`<label class="choice all"><input type="checkbox" ref=${box} checked=${isWhole} onChange=${() => of.choose(isWhole ? [] : of.free)} /> ${say("selection.all", { count: most })}</label>`;
}

/**
 * What can be done with all that are chosen, at the bottom of the page while some are.
 *
 * @param {object} props
 * @param {ReturnType<typeof useSelection>} props.of
 * @param {Array<{name: string, words: string, run: (item: any) => Promise<unknown>, fits?: (item: any) => boolean,
 *   undo?: (item: any, made: any) => Promise<unknown>, text?: (names: string) => string, isDanger?: boolean}>}
 *   props.actions `text` is what is asked before what others see, and `undo` takes back what was done with one, of which
 *   `run` resolved with `made`.
 * @param {(items: any[], isUndone: boolean) => unknown} props.changed hears what it was done with, or taken back from.
 */
export function SelectionBar({ of, actions, changed }) {
  const [at, setAt] = useState(null);
  const [refused, setRefused] = useState([]);
  const isStopped = useRef(false);
  const latest = useRef(of); // what has been chosen meanwhile stays chosen
  latest.current = of;
  const isLeft = useRef(false); // it goes on on another page, whose address is that one's own
  useEffect(() => () => { isLeft.current = true; }, []);
  // Nobody sees the bar any more: what it would say is said at the edge of the page.
  const tell = (failed) => { if (isLeft.current && failed.length) toast(`${namesOf(failed.map(({ item }) => item), of.nameOf)}: ${failed[0].error.message}`, { tone: "bad" }); };
  const act = useAction(async (action) => {
    const items = fitting(action, of.chosen);
    setRefused([]);
    if (action.text && !(await ask({ title: action.words, text: action.text(namesOf(items, of.nameOf)), confirm: action.words, isDanger: action.isDanger }))) return;
    isStopped.current = false;
    const made = new Map();
    const run = async (item) => made.set(item, await action.run(item));
    const done = await each(items, run, (count) => setAt({ count, all: items.length }), { isStopped, setRefused, tell });
    setAt(null);
    const keys = new Set(done.map(of.keyOf));
    if (!isLeft.current) latest.current.choose(latest.current.chosen.filter((item) => !keys.has(of.keyOf(item))));
    if (done.length === 0) return;
    const undo = action.undo && (async () => {
      await each(done, (item) => action.undo(item, made.get(item)), () => {}, { isStopped: { current: false }, setRefused, tell });
      await changed(done, true);
    });
    toast(say("selection.done", { what: action.words, count: done.length }), { undo });
    await changed(done, false);
  });
  useFocusBack(of.chosen.length > 0);
  if (of.chosen.length === 0 && refused.length === 0) return null;
  return html`<div class="savebar" role="region" aria-label=${say("selection.title")}>
    <p role="status">${at ? say("selection.running", at) : say("selection.count", { count: of.chosen.length })}</p>
    ${at ? html`<button type="button" onClick=${() => { isStopped.current = true; }}>${say("selection.stop")}</button>`
      : html`${actions.map((action) => html`<button key=${action.name} type="button" class=${action.isDanger ? "danger" : ""} disabled=${act.isRunning || fitting(action, of.chosen).length === 0} onClick=${() => act.run(action)}>${action.words}</button>`)}
        <button type="button" class="quiet" onClick=${() => { setRefused([]); of.choose([]); }}>${say("selection.none")}</button>`}
    ${refused.length > 0 && html`<ul class="plain">${refused.map(({ item, error }) => html`<li key=${of.keyOf(item)}><bdi>${of.nameOf(item)}</bdi> <${Complaint} error=${error} /></li>`)}</ul>`}
    <${Complaint} error=${act.error} /></div>`;
}

const fitting = ({ fits = () => true }, items) => items.filter(fits);

function namesOf(items, nameOf) {
  const names = items.slice(0, MOST_NAMED).map(nameOf);
  return listed(items.length > MOST_NAMED ? [...names, say("selection.more", { count: items.length - MOST_NAMED })] : names);
}

// One after the other; resolves with those that it was done with.
async function each(items, run, told, { isStopped, setRefused, tell }) {
  const done = [];
  const failed = [];
  for (const [count, item] of items.entries()) {
    if (isStopped.current) break;
    told(count);
    try {
      await run(item);
      done.push(item);
    } catch (error) {
      failed.push({ item, error });
      setRefused((before) => [...before, { item, error }]);
      if (STOPS.has(error.status ?? 0)) break;
    }
  }
  tell(failed);
  return done;
}

// The button that had the focus is gone with the bar.
function useFocusBack(isShown) {
  const wasShown = useRef(false);
  useEffect(() => {
    if (wasShown.current && !isShown && document.activeElement === document.body) document.getElementById("main").focus();
    wasShown.current = isShown;
  }, [isShown]);
}
