// What is written and not sent yet: whoever leaves it is asked, by whichever way.
import { useLayoutEffect, useRef } from "preact/hooks";
import { guard } from "../router.js";
import { say } from "../words.js";

/**
 * Ask before the page changes, as long as something is not saved.
 *
 * @param {boolean} isChanged
 * @param {boolean} [isSending] what is on its way is no longer asked about.
 */
export function useUnsaved(isChanged, isSending = false) {
  const sending = useRef(isSending);
  sending.current = isSending;
  // With what is shown, not after the next frame: whoever sees that it is saved is not asked any more.
  useLayoutEffect(() => {
    if (!isChanged) return undefined;
    return guard(({ isLeaving } = {}) => sending.current || (isLeaving ? false : confirm(say("savebar.leave"))));
  }, [isChanged]);
}
