// What is written and not sent yet: whoever leaves it is asked, by whichever way.
import { useEffect, useRef } from "preact/hooks";
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
  useEffect(() => {
    if (!isChanged) return undefined;
    return guard(({ isLeaving } = {}) => sending.current || (isLeaving ? false : confirm(say("savebar.leave"))));
  }, [isChanged]);
}
