// New messages for whoever listens: each as it comes while there are few, and how many where there are more.
import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../../ui/announce.js";
import { say } from "../../words.js";

const SECOND_MS = 1_000;
const EVERY_MS = 10_000;

/**
 * Whether the log may be read out message by message. Above one message a second it is silent, and how many have come is
 * said every ten seconds, until ten seconds have passed without such a second.
 *
 * @param {number} count of messages that have been written since the thread was opened.
 * @returns {boolean}
 */
export function useReadOut(count) {
  const [isBusy, setBusy] = useState(false);
  const seen = useRef({ count, atMs: 0 });
  const come = useRef(0);
  const isRushed = useRef(false);
  useEffect(() => {
    const { count: before, atMs } = seen.current;
    const fresh = count - before;
    if (fresh === 0) return;
    seen.current = { count, atMs: Date.now() };
    come.current += fresh;
    if (fresh > 1 || Date.now() - atMs < SECOND_MS) {
      isRushed.current = true;
      setBusy(true);
    }
  }, [count]);
  useEffect(() => {
    if (!isBusy) return undefined;
    const timer = setInterval(() => {
      if (come.current) announce(say("chat.come", { count: come.current }));
      come.current = 0;
      if (!isRushed.current) setBusy(false);
      isRushed.current = false;
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [isBusy]);
  if (!isBusy) come.current = 0;
  return !isBusy;
}
