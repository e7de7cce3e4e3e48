// The one live socket. What is watched, and what has no answer yet, outlives each connection: the next one resumes every
// channel where the last frame left it, and says again what was not answered. The service knows a repeated message by its
// `clientMessageId`, so nothing is lost and nothing is there twice.
import { Backoff } from "./backoff.js";
import { DUTIES, again } from "./closing.js";
import { Connection, PING } from "./connection.js";
import { Problem, Unreachable } from "./problem.js";
import { Subscription } from "./subscription.js";

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
  #connection = null; // the newest
  #former = null; // still heard until the newest has taken over
  #timer = 0;
  #subscriptions = new Map(); // {channel: Subscription}
  #unanswered = new Map(); // {id: {command, connection, answer, reject, isLasting}}, in the order of saying
  #nextId = 1;

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
   */
  subscribe(channel, { onSnapshot, onEvent, onResume, onEnd, ...params }) {
    const handlers = { onSnapshot, onEvent, onResume, onEnd };
    const subscription = new Subscription(channel, params, handlers, (left) => this.#leave(left));
    this.#subscriptions.set(channel, subscription);
    if (this.#connection?.isOpen) this.#begin(subscription);
    else this.#ensure();
    return subscription;
  }

  /**
   * Send a message; resolves with it once it is durable, however many connections that takes.
   *
   * @param {string} channel `conversation:<id>`.
   * @param {object} message as a POST of it takes; `clientMessageId` is added where it has none.
   * @returns {Promise<object>}
   * @throws {Problem} it is refused.
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
    this.#connection?.say({ op: "typing", channel });
  }

  /** Have the service say something, where nothing has been heard for too long to be sure of what is shown. */
  ping() { this.#connection?.say(PING); }

  /** Ask at once whether the connection still is one, and give it up where there is no answer: the network is said to be gone. */
  doubt() { this.#connection?.doubt(); }

  /** Try now, where the next try was to come later: the network is back, or the page is seen again. */
  wake() {
    if (this.state !== "waiting") return;
    this.#backoff.reset();
    this.#open();
  }

  /** Open a connection with the newest token, move every channel to it, and only then close the former one. */
  refresh() {
    if (!this.#connection?.isOpen || this.#former) return;
    this.#former = this.#connection;
    this.#open();
  }

  /** Close the connection; what is watched stays, and the next `subscribe` or `resume` opens one again. */
  pause() {
    clearTimeout(this.#timer);
    this.#drop();
    this.#become("closed");
  }

  /** Connect again after `pause`, where anything is watched or unsent, and take up each channel where it was left. */
  resume() {
    if (this.#subscriptions.size || this.#unanswered.size) this.#ensure();
  }

  /** End everything: subscriptions, and what is unanswered. */
  close() {
    this.pause();
    this.#subscriptions.clear();
    this.#abandon(new Unreachable(new Error("the socket was closed")));
  }

  // -- connections ---------------------------------------------------------------------------------------------------

  #ensure() {
    if (this.state === "closed") this.#open();
  }

  #open() {
    clearTimeout(this.#timer);
    const { base, WebSocket, authorize } = this.#parts;
    const token = authorize.token();
    if (token === null) return this.#finish(new Problem({ code: "UNAUTHENTICATED", message: "not signed in" }));
    if (this.#former === null) this.#become("connecting");
    this.#connection = new Connection(WebSocket, `${base.replace(/^http/, "ws")}/v1/social/live?channels=`, token, {
      opened: (connection) => this.#opened(connection),
      heard: (frame, connection) => this.#heard(frame, connection),
      closed: (code, wasOpen, connection) => this.#closed(code, wasOpen, connection),
    });
    return undefined;
  }

  #opened(connection) {
    if (connection !== this.#connection) return;
    this.#become("live");
    // Channels first, so that what a message does there comes as an event.
    for (const subscription of this.#subscriptions.values()) this.#begin(subscription);
    for (const asked of this.#unanswered.values()) if (asked.isLasting) connection.say(asked.command);
    this.#retire();
  }

  #closed(code, wasOpen, connection) {
    this.#lose(connection);
    if (connection === this.#former) this.#former = null;
    if (connection !== this.#connection) return;
    this.#connection = this.#former;
    this.#former = null;
    if (this.#connection) return; // The one before is still there.
    this.#become("waiting");
    (DUTIES[code] ?? again)(this, wasOpen);
  }

  // What was asked over a connection that is gone gets no answer; what lasts is said again over the next.
  #lose(connection) {
    for (const [id, asked] of [...this.#unanswered]) {
      if (asked.connection !== connection || asked.isLasting) continue;
      this.#settle(id, () => asked.reject(new Unreachable(new Error("the connection broke"))));
    }
  }

  /** @package What the close codes ask for (docs/errors.md). */
  async reconnect({ leastMs = 0, needsToken = false, wasOpen = true } = {}) {
    const { authorize } = this.#parts;
    try {
      // A browser does not say why an upgrade was refused; a request does.
      const isSignedIn = needsToken ? await authorize.renew() : wasOpen || (await authorize.verify());
      if (!isSignedIn) return this.#finish(new Problem({ code: "UNAUTHENTICATED", message: "signed out", status: 401 }));
    } catch {
      // The service does not answer requests either.
    }
    if (this.state === "waiting") this.#later(() => this.#open(), this.#backoff.next(leastMs));
    return undefined;
  }

  /** @package Stop for good; `error` says why. */
  stop(error) {
    this.#finish(error);
  }

  #finish(error) {
    this.#drop();
    this.#become("closed");
    this.#abandon(error);
    this.dispatchEvent(new CustomEvent("end", { detail: error }));
  }

  #drop() {
    for (const connection of [this.#connection, this.#former]) {
      if (!connection) continue;
      connection.close();
      this.#lose(connection);
    }
    this.#connection = this.#former = null;
  }

  #later(act, delayMs) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, delayMs);
  }

  #become(state) {
    if (state === this.state) return;
    this.state = state;
    this.dispatchEvent(new CustomEvent("state", { detail: state }));
  }

  // -- what is said and heard ----------------------------------------------------------------------------------------

  #heard(frame, connection) {
    this.#backoff.reset();
    this.heardAtMs = Date.now();
    if (frame.type === "hello") this.#parts.clock.hear(frame.serverTimeMs);
    else if (frame.type === "snapshot" || frame.type === "event") this.#subscriptions.get(frame.channel)?.take(frame, connection);
    else if (frame.type === "unsubscribed") this.#end(frame.channel, { code: frame.code, message: `${frame.channel} is no longer shown` });
    else if (frame.type === "reply") {
      this.#settle(frame.id, (asked) => asked.answer(frame, connection));
      this.#retire();
    } else if (frame.type === "reconnect" && connection === this.#connection) {
      this.#later(() => { this.#drop(); this.#open(); }, frame.afterMs);
    }
  }

  #begin(subscription) {
    const { channel } = subscription;
    const isCurrent = () => this.#subscriptions.get(channel) === subscription;
    const answered = this.#ask(subscription.command(), {
      answer: (frame, connection) => frame.ok && isCurrent() && subscription.moveTo(connection, frame),
    });
    answered.catch((error) => {
      if (!isCurrent() || error instanceof Unreachable) return; // The next connection begins it again.
      if (error.isTemporary) setTimeout(() => isCurrent() && this.#begin(subscription), this.#backoff.next(error.retryAfterMs ?? 0));
      else this.#end(channel, error);
    });
  }

  #leave(subscription) {
    if (this.#subscriptions.get(subscription.channel) !== subscription) return;
    this.#subscriptions.delete(subscription.channel);
    this.#connection?.say({ op: "unsubscribe", channel: subscription.channel });
  }

  #end(channel, error) {
    const subscription = this.#subscriptions.get(channel);
    this.#subscriptions.delete(channel);
    subscription?.end(error);
  }

  #ask(command, { isLasting = false, answer = null } = {}) {
    const id = this.#nextId++;
    const asked = { ...command, id };
    return new Promise((resolve, reject) => {
      const settle = (frame, connection) => {
        answer?.(frame, connection);
        if (frame.ok) resolve(frame.data ?? frame);
        else reject(new Problem(frame.error));
      };
      this.#unanswered.set(id, { command: asked, connection: this.#connection, answer: settle, reject, isLasting });
      if (!this.#connection?.say(asked) && !isLasting) {
        this.#settle(id, () => reject(new Unreachable(new Error("not connected"))));
      }
      if (isLasting) this.#ensure();
    });
  }

  #settle(id, conclude) {
    const asked = this.#unanswered.get(id);
    if (!asked) return; // The answer to what was said twice, over two connections.
    this.#unanswered.delete(id);
    conclude(asked);
  }

  #abandon(error) {
    for (const id of [...this.#unanswered.keys()]) this.#settle(id, (asked) => asked.reject(error));
  }

  // The former connection goes when it shows no channel and owes no answer any more.
  #retire() {
    const former = this.#former;
    if (former === null || !this.#connection.isOpen) return;
    if ([...this.#subscriptions.values()].some((one) => one.isOn(former))) return;
    if ([...this.#unanswered.values()].some((asked) => asked.connection === former && !asked.isLasting)) return;
    former.close();
    this.#former = null;
  }
}
