// A channel that is watched: where one is in it, and which connection its frames come from.
import { Backoff } from "./backoff.js";
import { Problem } from "./problem.js";

/** What `Live.subscribe` returns. It outlives connections; `close` ends it. */
export class Subscription {
  #handlers;
  #place = null; // {epoch, offset} of the newest snapshot or event
  #connection = null; // the one whose frames count
  #leave;
  #backoff;
  #timer = 0; // until the next try, where the service could not show it now

  /**
   * @param {string} channel
   * @param {object} params `mode`, `limit` and so on, as `subscribe` takes them.
   * @param {Handlers} handlers
   * @param {(subscription: Subscription) => void} leave
   * @param {() => number} random from 0 to 1; spreads tries.
   */
  constructor(channel, params, handlers, leave, random) {
    this.channel = channel;
    this.params = params;
    this.#handlers = handlers;
    this.#leave = leave;
    this.#backoff = new Backoff(random);
  }

  /** The command that watches the channel, from the place that one has reached; a try that was to come later is this one. */
  command() {
    clearTimeout(this.#timer);
    const { channel, params } = this;
    return { op: "subscribe", channel, params, ...(this.#place && { since: this.#place }) };
  }

  /** Frames of this connection count from now on, and those of a former one no more. */
  moveTo(connection, { recovered }) {
    this.#backoff.reset();
    const isFirst = this.#connection === null;
    this.#connection = connection;
    if (!isFirst) this.#handlers.onResume?.(recovered);
  }

  /** Whether this connection's frames count. */
  isOn(connection) {
    return connection === this.#connection;
  }

  /** Take a snapshot or an event; one that was seen already, over another connection, is passed over. */
  take(frame, connection) {
    if (connection !== this.#connection || this.#isOld(frame)) return;
    if (frame.offset !== null) this.#place = { epoch: frame.epoch, offset: frame.offset };
    if (frame.type === "snapshot") this.#handlers.onSnapshot?.(frame.data, frame);
    else this.#handlers.onEvent?.(frame.event, frame.data, frame);
  }

  /** The service could not show it now: try again later. */
  postpone(begin, { retryAfterMs }) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(begin, this.#backoff.next(retryAfterMs ?? 0));
  }

  /** Nothing is to be done for it any more. */
  forget() {
    clearTimeout(this.#timer);
    this.#leave = null;
  }

  /** The service ended it, or never began it. */
  end(error) {
    this.forget();
    this.#handlers.onEnd?.(error instanceof Error ? error : new Problem(error));
  }

  /** Stop watching. */
  close() {
    const leave = this.#leave;
    this.forget();
    leave?.(this);
  }

  #isOld(frame) {
    const place = this.#place;
    return frame.type === "event" && frame.offset !== null && place !== null &&
      frame.epoch === place.epoch && frame.offset <= place.offset;
  }
}

/**
 * @typedef {object} Handlers
 * @property {(data: any, frame: any) => void} [onSnapshot] the whole channel; it replaces what was known.
 * @property {(event: string, data: any, frame: any) => void} [onEvent] one change, each once and in order.
 * @property {(recovered: boolean) => void} [onResume] a new connection has taken over: every missed event follows, or,
 *   where `recovered` is false, a snapshot.
 * @property {(error: Problem) => void} [onEnd] the channel is no longer shown, or never was.
 */
