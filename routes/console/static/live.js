// What components see of the live socket: its state, and channels whose frames are applied once per animation frame.
import { useEffect, useRef, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { partyline } from "./session.js";

/** The service's clock, in epoch milliseconds: what it dates is as old as it says, whatever this device takes for now. */
export const serverNowMs = () => Date.now() + partyline.live.aheadMs;

/** {state, sinceMs} of the connection: when it came to be so. */
export const connection = signal({ state: partyline.live.state, sinceMs: serverNowMs() });

partyline.live.addEventListener("state", ({ detail }) => { connection.value = { state: detail, sinceMs: serverNowMs() }; });

/**
 * Whether the service says nothing any more, at most five seconds after it has stopped: at once where the connection has
 * ended, else by asking where it has been quiet. For pages whose reader relies on it.
 */
export function useSilence() {
  const [isSilent, setSilent] = useState(false);
  useEffect(() => {
    const timer = setInterval(() => {
      const quietMs = Date.now() - partyline.live.heardAtMs;
      if (quietMs >= ASK_MS) partyline.live.ping();
      setSilent(quietMs >= SILENT_MS);
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  return connection.value.state !== "live" || isSilent;
}

const LOOK_MS = 500;
const ASK_MS = 2_000;
const SILENT_MS = 4_000;

/**
 * Watch a channel while the component is shown.
 *
 * @param {string|null} channel null watches nothing.
 * @param {(frames: Array<{type: "snapshot"|"event", event?: string, data: any, self?: any}>) => void} apply gets what has
 *   come since the last animation frame, in order, so that fifty frames a second cost as many renders as the screen has.
 * @param {{mode?: "snapshot"|"delta", limit?: number, onEnd?: (error: Error) => void}} [options]
 */
export function useChannel(channel, apply, { onEnd, ...params } = {}) {
  useEffect(() => {
    if (channel === null) return undefined;
    const collected = collector(apply);
    const subscription = partyline.live.subscribe(channel, {
      ...params,
      onSnapshot: (data, frame) => collected.add(frame),
      onEvent: (event, data, frame) => collected.add(frame),
      onEnd,
    });
    return () => {
      subscription.close();
      collected.stop();
    };
  }, [channel]);
}

/**
 * The newest that a channel has told by an event, since it has begun: a snapshot says all that there was until then.
 *
 * @param {any[]} frames what `useChannel` gave last.
 * @param {string} event
 * @param {{fits?: (data: any) => boolean, inSnapshot?: (data: any) => any}} [options] which of these events count, and where
 *   a snapshot has the same.
 * @returns {any} null before the first.
 */
export function useTold(frames, event, { fits = () => true, inSnapshot = () => null } = {}) {
  const seen = useRef({ frames: null, newest: null });
  if (seen.current.frames !== frames) {
    let { newest } = seen.current;
    for (const frame of frames) {
      if (frame.type === "snapshot") newest = inSnapshot(frame.data) ?? null;
      else if (frame.event === event && fits(frame.data)) newest = frame.data;
    }
    seen.current = { frames, newest };
  }
  return seen.current.newest;
}

/**
 * Read what a channel's events keep up to date, whenever the channel begins anew: no event says what was missed.
 *
 * @param {any[]} frames what `useChannel` gave last.
 * @param {() => unknown} reload
 */
export function useAnew(frames, reload) {
  const first = useRef(frames); // what is shown from now on was read after these
  useEffect(() => {
    if (frames !== first.current && frames.some((frame) => frame.type === "snapshot")) reload();
  }, [frames]);
}

const shared = new Map(); // {channel: {state: Signal, users: number, subscription}}

/**
 * Watch one of the user's own channels (`inbox`, `friends`, `party`, `notifications`) in snapshots, together with whoever
 * else on the page does.
 *
 * @param {string|null} channel null watches nothing.
 * @returns {{data: any, error: Error|null}} the newest snapshot; null before the first.
 */
export function useShared(channel) {
  if (!shared.has(channel)) shared.set(channel, { state: signal({ data: null, error: null }), users: 0, subscription: null });
  const one = shared.get(channel);
  useEffect(() => {
    if (channel === null) return undefined;
    if (one.users++ === 0) one.subscription = shareOf(channel, one.state);
    return () => {
      if (--one.users > 0) return;
      one.subscription.close();
      one.state.value = { data: null, error: null };
    };
  }, [channel]);
  return one.state.value;
}

function shareOf(channel, state) {
  const collected = collector((frames) => { state.value = { data: frames.at(-1).data, error: null }; });
  return partyline.live.subscribe(channel, {
    onSnapshot: (data, frame) => collected.add(frame),
    onEnd: (error) => { state.value = { ...state.value, error }; },
  });
}

function collector(apply) {
  let frames = [];
  let isBooked = false;
  const show = () => {
    isBooked = false;
    const collected = frames;
    frames = [];
    if (collected.length) apply(collected);
  };
  return {
    add(frame) {
      // A snapshot stands for all that came before it.
      if (frame.type === "snapshot") frames = [];
      frames.push(frame);
      if (isBooked) return;
      isBooked = true;
      if (document.hidden) setTimeout(show);
      else requestAnimationFrame(show);
    },
    stop() {
      frames = [];
    },
  };
}

// A tab that nobody sees for five minutes closes its socket, and takes up every channel where it was when it is seen.
const HIDDEN_MS = 5 * 60_000;
let hiddenTimer = 0;
document.addEventListener("visibilitychange", () => {
  clearTimeout(hiddenTimer);
  if (document.hidden) hiddenTimer = setTimeout(() => partyline.live.pause(), HIDDEN_MS);
  else partyline.live.resume();
});
