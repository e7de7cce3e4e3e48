// A WebSocket whose service is the program, and time that passes when the program says so.

/** Every socket that was made, in order. */
export const sockets = [];

/** In place of `WebSocket`. */
export class ByHand {
  readyState = 0;
  said = [];

  constructor() { sockets.push(this); }

  send(text) { this.said.push(JSON.parse(text)); }

  close() { this.readyState = 3; }

  open() {
    this.readyState = 1;
    this.onopen();
    this.tell({ type: "hello", serverTimeMs: 0 });
  }

  tell(frame) { this.onmessage({ data: JSON.stringify(frame) }); }

  die(code = 1006) {
    this.readyState = 3;
    this.onclose({ code });
  }

  /** The newest command of a kind. */
  last(op, channel) { return this.said.findLast((command) => command.op === op && command.channel === channel); }

  /** Say yes to a command, or to the newest of a kind. */
  grant(command, channel) {
    const { id, channel: shown } = typeof command === "string" ? this.last(command, channel) : command;
    this.tell({ type: "reply", id, ok: true, channel: shown, epoch: "e", offset: 0, recovered: true });
  }

  /** What was said, in words. */
  get words() { return this.said.map(({ op, channel }) => `${op} ${channel}`); }
}

/** Let whatever waits for a promise go on. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Take the clocks of this program over: from now on they stand still but for `pass`.
 *
 * @returns {{now: () => number, pass: (ms: number) => Promise<void>}}
 */
export function takeTime() {
  let nowMs = 1_800_000_000_000;
  let nextId = 1;
  const due = new Map(); // {id: {atMs, act}}
  globalThis.setTimeout = (act, ms = 0) => {
    due.set(nextId, { atMs: nowMs + ms, act });
    return nextId++;
  };
  globalThis.clearTimeout = (id) => due.delete(id);
  Date.now = performance.now = () => nowMs;
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new DOMException("too late", "TimeoutError")), ms);
    return controller.signal;
  };
  const pass = async (ms) => {
    const endMs = nowMs + ms;
    for (;;) {
      await settled();
      const [next] = [...due].filter(([, { atMs }]) => atMs <= endMs).sort(([, one], [, other]) => one.atMs - other.atMs);
      if (next === undefined) break;
      due.delete(next[0]);
      nowMs = Math.max(nowMs, next[1].atMs);
      next[1].act();
    }
    nowMs = endMs;
  };
  return { now: () => nowMs, pass };
}
