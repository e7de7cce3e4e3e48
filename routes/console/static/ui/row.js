// What stands in every row of a list, with the name of its row: out of its place "Delete" does not say what it deletes.
import { say } from "../words.js";

/**
 * What is shown on a button, link or summary, and what it is called: first as it is shown, so that it can be asked for by
 * voice.
 *
 * @param {string} key of the words that are shown.
 * @param {string} name of the row.
 * @returns {{"aria-label": string, children: string}} for `html`, as `...${}`.
 */
export const ofRow = (key, name) => ({ "aria-label": say("row.of", { what: say(key), name }), children: say(key) });
