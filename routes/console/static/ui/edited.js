// A form for what others may change meanwhile: nothing of theirs is overwritten, and it stands beside one's own.
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { useAction } from "../store.js";
import { say } from "../words.js";
import { toast } from "./toast.js";

/**
 * What is being edited. Each field is a text or a switch.
 *
 * @param {object} edited
 * @param {{value: any, etag: string}} edited.kept what was read.
 * @param {(value: any) => Record<string, string|boolean>} edited.fieldsOf what the controls show of it.
 * @param {(fields: Record<string, any>, etag: string, value: any) => Promise<{value: any, etag: string}>} edited.write
 *   saves the fields in place of what has the tag; resolves with what is there now.
 * @param {() => Promise<{value: any, etag: string}>} edited.read reads it anew.
 * @param {(value: any) => unknown} [edited.changed] hears what is there once it is saved, or taken from others.
 * @param {string} [edited.said] the words that say that it is saved.
 */
export function useEdited({ kept, fieldsOf, write, read, changed = () => {}, said = say("savebar.saved") }) {
  const [state, setState] = useState({ base: kept, newer: null, fields: fieldsOf(kept.value) });
  const { base, newer, fields } = state;
  const before = fieldsOf(base.value);
  const changes = Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== before[name]));
  const begin = (next, mine = {}) => {
    setState({ base: next, newer: null, fields: { ...fieldsOf(next.value), ...mine } });
    changed(next.value);
  };
  const save = useAction(async () => {
    try {
      begin(await write(fields, base.etag, base.value));
      toast(said);
    } catch (error) {
      if (error.code === "REVISION_CONFLICT") {
        const found = await read();
        setState((now) => ({ ...now, newer: found }));
      }
      throw error;
    }
  });
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
    isChanged: Object.keys(changes).length > 0,
    set: (name) => (value) => setState((now) => ({ ...now, fields: { ...now.fields, [name]: value } })),
    discard: () => (newer ? go() : setState((now) => ({ ...now, fields: before }))),
    hint: (name, words = null) => (theirs && theirs[name] !== before[name] ? saidByThem(theirs[name]) : words),
    conflict: newer && { keepMine: () => go(changes), takeTheirs: () => go() },
  };
}

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
