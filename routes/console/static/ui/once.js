// What must not happen twice because an answer was lost on its way.
import { useRef } from "preact/hooks";

/**
 * Have something sent once: where nobody knows whether it happened and the same is sent again, the very same request is
 * made again, and the service sees that it is.
 *
 * @template Wanted
 * @param {(wanted: Wanted) => Promise<any>} send makes one request.
 * @returns {(wanted: Wanted) => Promise<any>}
 */
export function useOnce(send) {
  const lost = useRef(null); // {text, again} of the one whose end nobody knows
  return async (wanted) => {
    const text = JSON.stringify(wanted);
    const known = lost.current?.text === text ? lost.current.again : null;
    lost.current = null;
    try {
      return await (known ? known() : send(wanted));
    } catch (error) {
      if (error.isOutcomeUnknown) lost.current = { text, again: error.again };
      throw error;
    }
  };
}
