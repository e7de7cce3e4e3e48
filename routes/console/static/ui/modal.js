// A dialog over the page: nothing behind it can be reached, and when it goes the focus is where it was.
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../html.js";

/** @param {{cancel: () => void, children: any, class?: string}} props `cancel` is what Escape does; labels as of `dialog`. */
export function Modal({ cancel, children, ...rest }) {
  const box = useRef(null);
  useLayoutEffect(() => {
    const dialog = box.current;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      giveBack(before);
    };
  }, []);
  const escape = (event) => {
    event.preventDefault();
    cancel();
  };
  // Whoever presses Escape twice is not asked about the second: what is still to be answered is shown again.
  return html`<dialog ref=${box} ...${rest} onCancel=${escape} onClose=${() => box.current?.showModal()}>${children}</dialog>`;
}

// A button that waits for the answer cannot take the focus yet: it gets it when it can be used again, unless the person
// has gone on meanwhile.
function giveBack(target) {
  const main = document.getElementById("main");
  target.focus();
  if (document.activeElement === target && target !== document.body) return;
  main?.focus();
  const watcher = new MutationObserver(() => {
    if (target.disabled) return;
    watcher.disconnect();
    if (document.activeElement === main || document.activeElement === document.body) target.focus();
  });
  watcher.observe(target, { attributes: true, attributeFilter: ["disabled"] });
}
