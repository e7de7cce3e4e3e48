// Who is signed in: an access token in memory, and what gets the next one before it ends.
import { Backoff } from "./backoff.js";
import { Problem } from "./problem.js";

/**
 * The access token of one user, kept fresh.
 *
 * Events: `renewed` when there is a new token, `end` when there is none to be had any more; `event.detail` says why.
 * `other` before `renewed`, when the new token is another user's than the last: the browser has signed in anew.
 */
export class Session extends EventTarget {
  #getToken;
  #backoff;
  #token = null;
  #clock;
  #timer = 0;
  #renewing = null;
  #turn = 0; // who asked for a token before somebody signed in or out gets it too late

  /**
   * @param {(() => Promise<Grant|null>)|null} getToken gets a fresh token; null where the user is signed out. Rejects
   *   with `Problem` or `Unreachable`.
   * @param {() => number} random
   * @param {import("./clock.js").Clock} clock the service's, which tokens end by.
   */
  constructor(getToken, random, clock) {
    super();
    this.#getToken = getToken;
    this.#backoff = new Backoff(random);
    this.#clock = clock;
  }

  /** The access token now, or null. */
  token() {
    return this.#token;
  }

  /** What the last grant said of the user: `{id, name}`; null where it said nothing. */
  user = null;

  /** Who was signed in last, also after the end; null where nobody was. */
  lastUserId = null;

  /** Names of the rights that the last grant listed. */
  permissions = [];

  /**
   * Take a token.
   *
   * @param {Grant} grant with `expiresAt`, it is renewed at four fifths of its life.
   */
  take(grant) {
    this.#token = grant.token;
    this.user = grant.user ?? this.user;
    const before = this.lastUserId;
    this.lastUserId = this.user?.id ?? before;
    this.permissions = grant.permissions ?? this.permissions;
    this.#backoff.reset();
    this.#turn++;
    clearTimeout(this.#timer);
    if (grant.expiresAt && this.#getToken) this.#renewAfter(this.#lifeMs(grant.expiresAt) * 0.8);
    if (before !== null && this.lastUserId !== before) this.dispatchEvent(new CustomEvent("other"));
  }

  /**
   * Get a fresh token; one request for all who ask meanwhile.
   *
   * @returns {Promise<boolean>} false where the user is signed out; `end` has told everybody then.
   * @throws {Problem|Unreachable} it cannot be said now.
   */
  renew() {
    this.#renewing ??= this.#renew().finally(() => { this.#renewing = null; });
    return this.#renewing;
  }

  /** Forget the token, and say so. */
  end(reason = new Problem({ code: "UNAUTHENTICATED", message: "signed out", status: 401 })) {
    this.#turn++;
    clearTimeout(this.#timer);
    const wasSignedIn = this.#token !== null;
    this.#token = null;
    this.user = null;
    this.permissions = [];
    if (wasSignedIn) this.dispatchEvent(new CustomEvent("end", { detail: reason }));
  }

  /** Forget the token without a word, and get none any more. */
  close() {
    this.#turn++;
    clearTimeout(this.#timer);
    this.#token = null;
    this.#getToken = null;
  }

  async #renew() {
    const turn = this.#turn;
    const grant = this.#getToken ? await this.#getToken() : null;
    if (turn !== this.#turn) return this.#token !== null;
    if (grant === null) {
      this.end();
      return false;
    }
    this.take(grant);
    this.dispatchEvent(new CustomEvent("renewed", { detail: grant }));
    return true;
  }

  async #renewInTime() {
    const turn = this.#turn;
    try {
      await this.renew();
    } catch (error) {
      // The token still holds; whoever is refused with it asks again.
      if (turn === this.#turn) this.#renewAfter(this.#backoff.next(error?.retryAfterMs ?? 0));
    }
  }

  #renewAfter(pauseMs) {
    this.#timer = setTimeout(() => this.#renewInTime(), Math.min(pauseMs, LONGEST_TIMER_MS));
  }

  // A fresh token that seems to have ended, or to end at once, shows that this device's clock is wrong, not that another
  // is wanted at once.
  #lifeMs(expiresAt) {
    const leftMs = Date.parse(expiresAt) - this.#clock.nowMs() || 0;
    return Math.max(leftMs, this.#clock.isKnown && leftMs > 0 ? SHORT_LIFE_MS : UNCLEAR_LIFE_MS);
  }
}

const LONGEST_TIMER_MS = 2 ** 31 - 1; // what setTimeout can do
const SHORT_LIFE_MS = 1_000;
const UNCLEAR_LIFE_MS = 40_000;

/**
 * @typedef {object} Grant
 * @property {string} token
 * @property {string} [expiresAt] ISO 8601.
 * @property {{id: string, name: string}} [user]
 * @property {string[]} [permissions]
 */
