// The keyboard: which keys do what now, and whether single letters may (WCAG 2.1.4).
import { effect, signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

const KEY = "partyline-letters";

/** Whether single letters do something; this browser remembers it. */
export const letters = signal(localStorage.getItem(KEY) !== "off");

effect(() => {
  if (letters.value) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, "off");
});

/** What single letters do on the page that is shown: [{keys, words}]. */
export const known = signal([]);

/**
 * Have single letters do something while the component is shown, but never while somebody types, and not where they are
 * switched off.
 *
 * @param {Array<{keys: string, words: string, run: (key: string) => unknown}>} bindings `keys` are all letters that run it.
 */
export function useLetters(bindings) {
  // Before anybody sees what they act on: who is quick presses a key as soon as it is there.
  useLayoutEffect(() => {
    known.value = bindings.map(({ keys, words }) => ({ keys: [...keys], words }));
    const press = (event) => {
      if (!isLetter(event)) return;
      const binding = bindings.find(({ keys }) => keys.includes(event.key));
      if (!binding) return;
      event.preventDefault();
      binding.run(event.key);
    };
    addEventListener("keydown", press);
    return () => {
      removeEventListener("keydown", press);
      known.value = [];
    };
  }, [bindings]);
}

/** Whether a key is a single letter that is meant for the page. */
export function isLetter(event) {
  if (!letters.value || event.ctrlKey || event.metaKey || event.altKey || event.key.length !== 1) return false;
  // A box that is ticked takes no letters.
  return !event.target.closest?.("input:not([type=checkbox]), textarea, select, dialog, [contenteditable]");
}
