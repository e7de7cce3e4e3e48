// @ts-self-types="./partyline.d.ts"
// A client of Partyline for browsers and Node: signing in, requests, and the one live socket. No dependencies.
//
//   import { Partyline } from "/client/partyline.js";
//   const partyline = new Partyline({ token });
//   partyline.live.subscribe("inbox", { onSnapshot: (inbox) => console.log(inbox.totals) });
import { Clock } from "./clock.js";
import { Live } from "./live.js";
import { Problem, Unreachable } from "./problem.js";
import { Rest } from "./rest.js";
import { Session } from "./session.js";

export { Problem, Unreachable };

/** One user's side of one service. */
export class Partyline {
  #hasEnded = false;
  #clock = new Clock();
  #listening = new AbortController(); // to what the browser says of its network and its pages

  /**
   * @param {object} [options]
   * @param {string} [options.url] address of the service; the page's own by default.
   * @param {string} [options.token] an access token. Alone, it is used until it ends.
   * @param {() => Promise<import("./session.js").Grant|null>} [options.getToken] gets a fresh token, for instance from
   *   your login service; null where the user is signed out. On a page of the service itself it may be left out: the
   *   session's cookie gets one.
   * @param {typeof fetch} [options.fetch]
   * @param {typeof WebSocket} [options.WebSocket] of the package `ws` for Node below 22.
   * @param {() => number} [options.random] from 0 to 1; spreads tries to connect.
   */
  constructor({ url, token, getToken, fetch, WebSocket, random = Math.random } = {}) {
    const base = (url ?? globalThis.location?.origin ?? "").replace(/\/+$/, "");
    const ofCookie = token === undefined && getToken === undefined ? () => this.#cookieGrant("/v1/sessions/renew") : null;
    this.session = new Session(getToken ?? ofCookie, random, this.#clock);
    const authorize = {
      token: () => this.session.token(),
      renew: () => this.session.renew(),
      verify: () => this.#verify(),
    };
    this.rest = new Rest({ base, fetch: fetch ?? globalThis.fetch.bind(globalThis), authorize, newKey });
    const clock = this.#clock;
    this.live = new Live({ base, WebSocket: WebSocket ?? globalThis.WebSocket, authorize, newKey, random, clock });
    if (token !== undefined) this.session.take({ token });
    this.session.addEventListener("renewed", () => {
      if (this.#hasEnded) this.#resume();
      else this.live.refresh();
    });
    this.session.addEventListener("other", () => {
      this.#hasEnded = true;
      this.live.close();
    });
    this.session.addEventListener("end", () => {
      this.#hasEnded = true;
      this.live.pause();
    });
    this.#listen();
  }

  /**
   * Take up the session of this browser; false where there is none. Where it is another user's by now, nothing of the
   * one before goes on.
   *
   * @throws {Problem|Unreachable} it cannot be said now.
   */
  async restore() {
    return this.session.renew();
  }

  /**
   * Sign this browser in with the code of a one-time link, or with an access token. The session lives in a cookie that
   * no script reads, so it is there after a reload. Whoever signs in again after an end goes on where they were, with
   * what is watched and what was not sent yet; another user begins with nothing.
   *
   * @param {{code: string}|{token: string}} credential
   * @throws {Problem} the code is used, has ended, or was never one; the token is not accepted.
   */
  async signIn(credential) {
    const body = "code" in credential ? { code: credential.code } : {};
    const headers = "token" in credential ? { Authorization: `Bearer ${credential.token}` } : {};
    const grant = await this.#cookieGrant("/v1/sessions", body, headers, { isLoud: true });
    if (this.session.lastUserId === null) this.live.close();
    this.session.take(grant);
    this.#resume();
  }

  /** End this browser's session, here and at the service; its tokens are refused from now on. */
  async signOut() {
    await this.rest.delete("/v1/sessions/current", { credentials: "same-origin", anonymous: true });
    this.session.end();
  }

  /**
   * End everything of this client: the socket and what is watched or unsent, requests for fresh tokens, and its ear for the
   * browser. Nothing is signed out at the service, and nothing can be asked of this client any more.
   */
  close() {
    this.#listening.abort();
    this.session.close();
    this.live.close();
  }

  #listen() {
    const { live } = this;
    const { document } = globalThis;
    const { signal } = this.#listening;
    globalThis.addEventListener?.("online", () => live.wake(), { signal });
    globalThis.addEventListener?.("offline", () => live.doubt(), { signal });
    document?.addEventListener("visibilitychange", () => document.hidden || live.wake(), { signal });
  }

  #resume() {
    this.#hasEnded = false;
    this.live.resume();
  }

  async #cookieGrant(path, body = {}, headers = {}, { isLoud = false } = {}) {
    const signal = isLoud ? undefined : AbortSignal.timeout(ANSWER_MS);
    try {
      const options = { anonymous: true, credentials: "same-origin", headers, signal, raw: true };
      const response = await this.rest.post(path, body, options);
      this.#clock.hear(Date.parse(response.headers.get("Date")));
      return await response.json();
    } catch (error) {
      if (error.status === 401 && !isLoud) return null;
      throw error instanceof Problem || error instanceof Unreachable ? error : new Unreachable(error);
    }
  }

  async #verify() {
    try {
      await this.rest.get("/v1/auth/verify", {}, { signal: AbortSignal.timeout(ANSWER_MS) });
      return true;
    } catch (error) {
      // A fresh token may have ended as well before it was looked at: only who gets none is signed out.
      if (error.status === 401) return this.session.token() !== null;
      throw error;
    }
  }
}

const ANSWER_MS = 15_000; // what nobody waits for in person is not to hang behind a service that never answers

// `crypto.randomUUID` wants a secure context, which a service in a home network has not.
function newKey() {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
