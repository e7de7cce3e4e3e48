// Requests: JSON in, JSON out, problem documents as exceptions, writes that can be repeated without happening twice.
import { Problem, Unreachable } from "./problem.js";

/** Requests to one service, with the credential that `authorize` gives. */
export class Rest {
  #base;
  #fetch;
  #authorize;
  #newKey;

  /**
   * @param {object} parts
   * @param {string} parts.base address of the service, without a slash at the end.
   * @param {typeof fetch} parts.fetch
   * @param {{token: () => (string|null), renew: () => Promise<boolean>}} parts.authorize the access token now, and what
   *   gets a fresh one after a 401; false where there is none to be had.
   * @param {() => string} parts.newKey an Idempotency-Key that nobody has used.
   */
  constructor({ base, fetch, authorize, newKey }) {
    this.#base = base;
    this.#fetch = fetch;
    this.#authorize = authorize;
    this.#newKey = newKey;
  }

  /**
   * Make a request, and again once with a fresh token where the answer is a 401.
   *
   * @param {string} method
   * @param {string} path begins with `/v1/`; names and ids in it are encoded by whoever calls (`encodeURIComponent`).
   * @param {object} [options]
   * @param {object} [options.query] values that are null or undefined are left out; arrays repeat their name.
   * @param {unknown} [options.body] sent as JSON.
   * @param {string} [options.ifMatch] the revision that the change was made from.
   * @param {string} [options.idempotencyKey] of POST and PUT; a new one by default.
   * @param {boolean} [options.anonymous] send no credential.
   * @param {boolean} [options.raw] resolve with the `Response`, whose body is not read.
   * @param {AbortSignal} [options.signal]
   * @returns {Promise<any>} the body; null for 204.
   * @throws {Problem} the service refuses.
   * @throws {Unreachable} there was no answer.
   */
  async request(method, path, options = {}) {
    const key = options.idempotencyKey ?? (KEYED.has(method) ? this.#newKey() : undefined);
    const kept = { ...options, idempotencyKey: key };
    const again = () => this.request(method, path, kept);
    const token = this.#authorize.token();
    let response = await this.#once(method, path, kept, again);
    if (response.status === 401 && !options.anonymous && (await this.#hasOtherThan(token, again))) {
      response = await this.#once(method, path, kept, again);
    }
    if (!response.ok && response.status !== 304) throw await problemOf(response, again);
    if (options.raw) return response;
    if (response.status === 204 || response.status === 304) return null;
    return this.#read(response, again);
  }

  /** Read. Options as in `request`. */
  get(path, query, options = {}) {
    return this.request("GET", path, { ...options, query });
  }

  /** Make something, or have something done. Options as in `request`. */
  post(path, body = {}, options = {}) {
    return this.request("POST", path, { ...options, body });
  }

  /** Put something in the place of what is there. Options as in `request`. */
  put(path, body, options = {}) {
    return this.request("PUT", path, { ...options, body });
  }

  /** Change some fields. Options as in `request`. */
  patch(path, body, options = {}) {
    return this.request("PATCH", path, { ...options, body });
  }

  /** Remove. Options as in `request`. */
  delete(path, options = {}) {
    return this.request("DELETE", path, options);
  }

  /**
   * Every item of a list, page by page, as they are asked for.
   *
   * @param {string} path a list that answers `{items, nextCursor, hasMore}`.
   * @param {object} [query] `limit` is the length of a page.
   */
  async *items(path, query = {}, options = {}) {
    let cursor;
    do {
      const page = await this.get(path, { ...query, cursor }, options);
      yield* page.items;
      cursor = page.nextCursor;
    } while (cursor);
  }

  // Whether there is another token to try with: a fresh one, or the one that somebody else's 401 has got meanwhile.
  async #hasOtherThan(token, again) {
    const now = this.#authorize.token();
    if (now !== null && now !== token) return true;
    try {
      return await this.#authorize.renew();
    } catch (error) {
      if (!(error instanceof Problem)) throw new Unreachable(error, { again });
      throw new Problem(error, { status: error.status, retryAfterMs: error.retryAfterMs, again });
    }
  }

  async #once(method, path, options, again) {
    const headers = new Headers(options.headers);
    const token = options.anonymous ? null : this.#authorize.token();
    if (token) headers.set("Authorization", `Bearer ${token}`);
    if (options.idempotencyKey) headers.set("Idempotency-Key", options.idempotencyKey);
    if (options.ifMatch) headers.set("If-Match", options.ifMatch);
    const init = { method, headers, signal: options.signal, cache: "no-store", credentials: options.credentials ?? "omit" };
    if (options.body !== undefined) {
      headers.set("Content-Type", "application/json");
      init.body = JSON.stringify(options.body);
    }
    try {
      return await this.#fetch(this.#base + path + searchOf(options.query), init);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new Unreachable(error, { again });
    }
  }

  async #read(response, again) {
    try {
      return await response.json();
    } catch (error) {
      throw new Unreachable(error, { again });
    }
  }
}

const KEYED = new Set(["POST", "PUT"]);

function searchOf(query) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined) search.append(name, String(one));
    }
  }
  const text = search.toString();
  return text && `?${text}`;
}

async function problemOf(response, again) {
  const seconds = Number(response.headers.get("Retry-After"));
  const beside = { status: response.status, retryAfterMs: seconds > 0 ? seconds * 1000 : null, again };
  try {
    return new Problem(await response.json(), beside);
  } catch {
    // A proxy in between answered in its own words.
    return new Problem({ code: "UNKNOWN", message: `the service answered ${response.status}` }, beside);
  }
}
