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
  #timer = 0;
  #renewing = null;

  /**
   * @param {(() => Promise<Grant|null>)|null} getToken gets a fresh token; null where the user is signed out. Rejects
   *   with `Problem` or `Unreachable`.
   * @param {() => number} random
   */
  constructor(getToken, random) {
    super();
    this.#getToken = getToken;
    this.#backoff = new Backoff(random);
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
    clearTimeout(this.#timer);
    if (grant.expiresAt && this.#getToken) {
      const leftMs = Date.parse(grant.expiresAt) - Date.now();
      this.#timer = setTimeout(() => this.#renewInTime(), Math.min(leftMs * 0.8, LONGEST_TIMER_MS));
    }
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
    clearTimeout(this.#timer);
    const wasSignedIn = this.#token !== null;
    this.#token = null;
    this.user = null;
    this.permissions = [];
    if (wasSignedIn) this.dispatchEvent(new CustomEvent("end", { detail: reason }));
  }

  async #renew() {
    const grant = this.#getToken ? await this.#getToken() : null;
    if (grant === null) {
      this.end();
      return false;
    }
    this.take(grant);
    this.dispatchEvent(new CustomEvent("renewed", { detail: grant }));
    return true;
  }

  async #renewInTime() {
    try {
      await this.renew();
    } catch {
      // The token still holds; whoever is refused with it asks again.
      this.#timer = setTimeout(() => this.#renewInTime(), this.#backoff.next());
    }
  }
}

const LONGEST_TIMER_MS = 2 ** 31 - 1; // what setTimeout can do

/**
 * @typedef {object} Grant
 * @property {string} token
 * @property {string} [expiresAt] ISO 8601.
 * @property {{id: string, name: string}} [user]
 * @property {string[]} [permissions]
 */
