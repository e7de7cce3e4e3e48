// A form for what others may change meanwhile: nothing of theirs is overwritten, and it stands beside one's own.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.js";
import { useAction } from "../store.js";
import { say } from "../words.js";
import { toast } from "./toast.js";

/**
 * What is being edited. Each field is a text or a switch. What is typed while something is saved or read stays.
 *
 * @param {object} edited
 * @param {{value: any, etag: string}} edited.kept what was read.
 * @param {(value: any) => Record<string, string|boolean>} edited.fieldsOf what the controls show of it.
 * @param {(fields: Record<string, any>, etag: string, value: any) => Promise<{value: any, etag: string}>} edited.write
 *   saves the fields in place of what has the tag; resolves with what is there now.
 * @param {() => Promise<{value: any, etag: string}>} edited.read reads it anew.
 * @param {(value: any) => unknown} [edited.changed] hears what is there once it is saved, or taken from others.
 * @param {(value: any) => boolean} [edited.isOld] whether the service has told of something newer than this.
 * @param {string} [edited.said] the words that say that it is saved.
 */
export function useEdited({ kept, fieldsOf, write, read, changed = () => {}, isOld = () => false, said = say("savebar.saved") }) {
  const [state, setState] = useState({ base: kept, newer: null, fields: fieldsOf(kept.value) });
  const latest = useRef(state);
  latest.current = state;
  const { base, newer, fields } = state;
  const before = fieldsOf(base.value);
  const changes = differing(fields, before);
  const begin = (next, mine = {}) => {
    const shown = fieldsOf(next.value);
    setState({ base: next, newer: null, fields: { ...shown, ...known(mine, shown) } });
    changed(next.value);
  };
  // What somebody else has saved is taken where nothing is changed here, and else stands beside it.
  const meet = (found) => {
    const now = latest.current;
    if (found.etag === now.base.etag) return;
    if (isEmpty(differing(now.fields, fieldsOf(now.base.value)))) begin(found);
    else setState({ ...now, newer: found });
  };
  const save = useAction(async () => {
    try {
      const next = await write(fields, base.etag, base.value);
      begin(next, differing(latest.current.fields, fields));
      toast(said);
    } catch (error) {
      if (error.code === "REVISION_CONFLICT") meet(await read());
      throw error;
    }
  });
  const hasNews = !save.isRunning && isOld((newer ?? base).value);
  useEffect(() => {
    if (!hasNews) return;
    read().then(meet, () => {}); // whoever saves without having seen it is told then
  }, [hasNews]);
  const go = (mine) => {
    save.clear();
    begin(newer, mine);
  };
  const theirs = newer && fieldsOf(newer.value);
  return {
    value: base.value,
    fields,
    begin,
    save,
    isChanged: !isEmpty(changes),
    set: (name) => (value) => setState((now) => ({ ...now, fields: { ...now.fields, [name]: value } })),
    discard: () => (newer ? go() : setState((now) => ({ ...now, fields: before }))),
    hint: (name, words = null, wordsOf = (value) => value) => (theirs && theirs[name] !== before[name] ? saidByThem(wordsOf(theirs[name])) : words),
    conflict: newer && { keepMine: () => go(changes), takeTheirs: () => go(), value: newer.value },
  };
}

const differing = (fields, others) => Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== others[name]));
const known = (fields, names) => Object.fromEntries(Object.entries(fields).filter(([name]) => Object.hasOwn(names, name)));
const isEmpty = (fields) => Object.keys(fields).length === 0;

/** What somebody else has saved in a field. @param {string|boolean} value */
export const saidByThem = (value) =>
  say("conflict.theirs", { value: value === "" ? "–" : typeof value === "boolean" ? say(value ? "rights.yes" : "rights.no") : value });

/**
 * That somebody else has saved meanwhile, and the two ways on.
 *
 * @param {{of: {keepMine: () => unknown, takeTheirs: () => unknown}|null, children?: any}} props
 */
export function Conflict({ of, children }) {
  if (!of) return null;
  return html`<div class="fault" role="status"><p>${say("conflict.text")}</p>${children}
    <div class="buttons start"><button type="button" onClick=${of.keepMine}>${say("conflict.keepMine")}</button><button type="button" onClick=${of.takeTheirs}>${say("conflict.takeTheirs")}</button></div></div>`;
}
