// The one live socket. What is watched, and what has no answer yet, outlives each connection: the next one resumes every
// channel where the last frame left it, and says again what was not answered. The service knows a repeated message by its
// `clientMessageId`, so nothing is lost and nothing is there twice.
import { Backoff } from "./backoff.js";
import { DUTIES, again } from "./closing.js";
import { PING } from "./connection.js";
import { Line } from "./line.js";
import { Problem, Unreachable } from "./problem.js";
import { Subscription } from "./subscription.js";
import { Unanswered, check } from "./unanswered.js";

/**
 * Channels and commands over connections that come and go.
 *
 * Events: `state` whenever `state` changes, and `end` when it will not connect again by itself; `event.detail` says why.
 *
 * `state` is `closed` (nothing was asked for yet, or `close` was called), `connecting`, `live`, or `waiting` (for the
 * next try). `heardAtMs` is when the service last said anything, by `Date.now()`; `aheadMs` how much its clock is ahead of
 * that, as it last said.
 */
export class Live extends EventTarget {
  #parts;
  #backoff;
  #line = new Line({
    stands: (connection) => this.#takeUp(connection),
    heard: (frame, connection) => this.#heard(frame, connection),
    lost: (connection) => this.#unanswered.lose(connection),
    opening: () => this.#become("connecting"),
    gone: (code, connection) => this.#gone(code, connection),
  });
  #timer = 0; // until the next try, or the move to another connection
  #isToldToMove = false; // the service has said when, and the timer is for that
  #subscriptions = new Map(); // {channel: Subscription}
  #unanswered = new Unanswered();

  /**
   * @param {object} parts
   * @param {string} parts.base address of the service.
   * @param {typeof WebSocket} parts.WebSocket
   * @param {{token: () => (string|null), renew: () => Promise<boolean>, verify: () => Promise<boolean>}} parts.authorize
   * @param {() => string} parts.newKey makes a `clientMessageId`.
   * @param {() => number} parts.random
   * @param {import("./clock.js").Clock} parts.clock learns the service's time.
   */
  constructor(parts) {
    super();
    this.#parts = parts;
    this.#backoff = new Backoff(parts.random);
    this.state = "closed";
    this.heardAtMs = -Infinity;
  }

  get aheadMs() { return this.#parts.clock.aheadMs; }

  /**
   * Watch a channel: `inbox`, `friends`, `party`, `conversation:<id>` and so on.
   *
   * @param {string} channel one that is watched already is watched anew, with these handlers.
   * @param {import("./subscription.js").Handlers & {mode?: "snapshot"|"delta", limit?: number}} options handlers, and
   *   how the channel is shown.
   * @returns {Subscription}
   * @throws {Problem} the name is too long, or no text.
   */
  subscribe(channel, { onSnapshot, onEvent, onResume, onEnd, ...params }) {
    check({ op: "subscribe", channel, params });
    const handlers = { onSnapshot, onEvent, onResume, onEnd };
    const leave = (left) => this.#leave(left);
    const subscription = new Subscription(channel, params, handlers, leave, this.#parts.random);
    this.#subscriptions.get(channel)?.forget();
    this.#subscriptions.set(channel, subscription);
    if (this.#line.isOpen) this.#begin(subscription);
    else this.#ensure();
    return subscription;
  }

  /**
   * Send a message; resolves with it once it is durable, however many connections that takes.
   *
   * @param {string} channel `conversation:<id>`.
   * @param {object} message as a POST of it takes; `clientMessageId` is added where it has none.
   * @returns {Promise<object>}
   * @throws {Problem} it is refused, is longer than 64 KiB, or has half of a character; the latter two are not said.
   * @throws {TypeError} it cannot be written as JSON.
   * @throws {Unreachable} the socket was closed for good before there was an answer.
   */
  send(channel, message) {
    const data = { clientMessageId: this.#parts.newKey(), ...message };
    return this.#ask({ op: "send", channel, data }, { isLasting: true });
  }

  /** Mark a conversation as read up to a message. Rejects where the connection breaks before the answer. */
  read(channel, messageId) {
    return this.#ask({ op: "read", channel, messageId });
  }

  /** Say that the user writes; lost where there is no connection. */
  typing(channel) {
    this.#line.current?.say({ op: "typing", channel });
  }

  /** Have the service say something, where nothing has been heard for too long to be sure of what is shown. */
  ping() { this.#line.current?.say(PING); }

  /** Ask at once whether the connection still is one, and give it up where there is no answer: the network is said to be gone. */
  doubt() {
    this.#line.current?.doubt();
  }

  /** Try now, where the next try was to come later: the network is back, or the page is seen again. */
  wake() {
    if (this.state !== "waiting") return;
    this.#backoff.reset();
    this.#open();
  }

  /**
   * Open a connection with the newest token, move every channel to it, and only then close the former one. Until it is
   * open, and where it does not come to be, all goes on over the one there is.
   */
  refresh() {
    if (this.#line.isSettled) this.#open();
  }

  /** Close the connection; what is watched stays, and the next `subscribe` or `resume` opens one again. */
  pause() {
    this.#unplan();
    this.#line.drop();
    this.#become("closed");
  }

  /** Connect again after `pause`, where anything is watched or unsent, and take up each channel where it was left. */
  resume() {
    if (this.#subscriptions.size || this.#unanswered.size) this.#ensure();
  }

  /** End everything: subscriptions, and what is unanswered. */
  close() {
    this.pause();
    for (const subscription of this.#subscriptions.values()) subscription.forget();
    this.#subscriptions.clear();
    this.#unanswered.abandon(new Unreachable(new Error("the socket was closed")));
  }

  // -- connections ---------------------------------------------------------------------------------------------------

  #ensure() {
    if (this.state === "closed") this.#open();
  }

  #open() {
    this.#unplan();
    const { base, WebSocket, authorize } = this.#parts;
    if (!WebSocket) throw new TypeError("no WebSocket here: give one as new Partyline({ WebSocket })");
    const token = authorize.token();
    if (token === null) return this.stop(new Problem({ code: "UNAUTHENTICATED", message: "not signed in" }));
    this.#line.open(WebSocket, `${base.replace(/^http/, "ws")}/v1/social/live?channels=`, token);
    return undefined;
  }

  // Channels first, so that what a message does there comes as an event. A connection that stands again after it was
  // taken over from has missed what was moved away from it.
  #takeUp(connection) {
    this.#become("live");
    for (const subscription of this.#subscriptions.values()) if (!subscription.isOn(connection)) this.#begin(subscription);
    this.#unanswered.sayAgain(connection);
    this.#retire();
  }

  // No connection is left, and none is on its way.
  #gone(code, { stoodMs, wasOpen }) {
    this.#backoff.weigh(stoodMs);
    this.#become("waiting");
    const duty = DUTIES[code];
    if (duty) duty(this, wasOpen);
    else if (!this.#isToldToMove) again(this, wasOpen);
  }

  // When a service that goes away has said: each client is told another time, so that not all come at once.
  #move() {
    this.#isToldToMove = false;
    if (this.state === "waiting") this.#open();
    else this.refresh();
  }

  /** @package What the close codes ask for (docs/errors.md). */
  async reconnect({ leastMs = 0, needsToken = false, wasOpen = true } = {}) {
    const { authorize } = this.#parts;
    let pauseMs = leastMs;
    try {
      // A browser does not say why an upgrade was refused; a request does.
      const isSignedIn = needsToken ? await authorize.renew() : wasOpen || (await authorize.verify());
      if (!isSignedIn) return this.stop(new Problem({ code: "UNAUTHENTICATED", message: "signed out", status: 401 }));
    } catch (error) {
      // The service does not answer requests either, or not now.
      pauseMs = Math.max(leastMs, error?.retryAfterMs ?? 0);
    }
    if (this.state === "waiting") this.#later(() => this.#open(), this.#backoff.next(pauseMs));
    return undefined;
  }

  /** @package Stop for good; `error` says why. */
  stop(error) {
    this.pause();
    this.#unanswered.abandon(error);
    this.dispatchEvent(new CustomEvent("end", { detail: error }));
  }

  #later(act, delayMs) {
    this.#unplan();
    this.#timer = setTimeout(act, delayMs);
  }

  #unplan() {
    clearTimeout(this.#timer);
    this.#isToldToMove = false;
  }

  #become(state) {
    if (state === this.state) return;
    this.state = state;
    this.dispatchEvent(new CustomEvent("state", { detail: state }));
  }

  // -- what is said and heard ----------------------------------------------------------------------------------------

  #heard(frame, connection) {
    this.heardAtMs = Date.now();
    const subscription = this.#subscriptions.get(frame.channel);
    if (frame.type === "hello") this.#parts.clock.hear(frame.serverTimeMs);
    else if (frame.type === "snapshot" || frame.type === "event") subscription?.take(frame, connection);
    else if (frame.type === "unsubscribed") {
      // What was watched under this name before may have ended; the reply to what is watched now is then still to come.
      if (subscription?.isOn(connection)) this.#end(subscription, { code: frame.code, message: `${frame.channel} is no longer shown` });
    } else if (frame.type === "reply") {
      this.#unanswered.answer(frame, connection);
      this.#retire();
    } else if (frame.type === "reconnect" && connection === this.#line.current) {
      this.#later(() => this.#move(), frame.afterMs);
      this.#isToldToMove = true;
    }
  }

  #begin(subscription) {
    this.#say(subscription.command(), {
      answer: (frame, connection) => this.#begun(subscription, frame, connection),
      fail: () => {}, // The next connection begins it again.
    });
  }

  #begun(subscription, frame, connection) {
    if (this.#subscriptions.get(subscription.channel) !== subscription) return;
    // A connection that was slow to answer does not get back what the newest has taken over.
    if (connection !== this.#line.current && subscription.isOn(this.#line.current)) return;
    if (frame.ok) {
      subscription.moveTo(connection, frame);
      return;
    }
    const problem = new Problem(frame.error);
    if (problem.isTemporary) subscription.postpone(() => subscription.isOn(this.#line.current) || this.#begin(subscription), problem);
    else this.#end(subscription, problem);
  }

  #leave(subscription) {
    const { channel } = subscription;
    this.#subscriptions.delete(channel);
    this.#line.sayEverywhere({ op: "unsubscribe", channel });
    this.#retire();
  }

  #end(subscription, error) {
    this.#subscriptions.delete(subscription.channel);
    subscription.end(error);
    this.#retire();
  }

  #ask(command, { isLasting = false } = {}) {
    return new Promise((resolve, reject) => {
      check(command);
      const answer = (frame) => (frame.ok ? resolve(frame.data ?? frame) : reject(new Problem(frame.error)));
      this.#say(command, { isLasting, answer, fail: reject });
    });
  }

  #say(command, waiting) {
    const connection = this.#line.isOpen ? this.#line.current : null;
    if (connection === null && !waiting.isLasting) {
      waiting.fail(new Unreachable(new Error("not connected")));
      return;
    }
    const numbered = this.#unanswered.add(command, connection, waiting);
    connection?.say(numbered);
    if (waiting.isLasting) this.#ensure();
  }

  // The former connection goes when it shows no channel and owes no answer any more.
  #retire() {
    const shows = (former) => [...this.#subscriptions.values()].some((one) => one.isOn(former));
    this.#line.retire((former) => shows(former) || this.#unanswered.isOwedBy(former));
  }
}
