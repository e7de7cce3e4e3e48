// What can go wrong between a client and the service, as exceptions.

/** A refusal of the service: a problem document (RFC 9457) of a request, or the error of a command on the live socket. */
export class Problem extends Error {
  /**
   * @param {object} document what the service said: `code`, `message`, and, of a request, `status`, `errors`, `meta`,
   *   `requestId`.
   * @param {{status?: number, retryAfterMs?: number|null, again?: (() => Promise<any>)|null}} [beside] the HTTP status
   *   (0 for a command of the socket); how long to wait before the next try; and a function that repeats exactly this
   *   request, with its Idempotency-Key, so that it cannot happen twice.
   */
  constructor(document, { status = document.status ?? 0, retryAfterMs = null, again = null } = {}) {
    super(document.message ?? document.title ?? document.code);
    this.name = "Problem";
    this.status = status;
    this.code = document.code ?? "UNKNOWN";
    this.errors = document.errors ?? [];
    this.meta = document.meta ?? {};
    this.requestId = document.requestId ?? null;
    this.retryAfterMs = document.meta?.retryAfterMs ?? retryAfterMs;
    this.again = again;
  }

  /** Whether the same again may succeed in a moment: too much at once, a restart, a database that is away. */
  get isTemporary() {
    return this.status === 429 || this.status === 503 || TEMPORARY.has(this.code);
  }

  /** Whether it may have happened all the same (contract: the answer to COMMIT was lost); repeat with `again`. */
  get isOutcomeUnknown() {
    return this.meta.outcome === "unknown";
  }

  /** The message about one field of the body, by its JSON pointer; null where that field is right. */
  about(pointer) {
    return this.errors.find((error) => error.pointer === pointer)?.message ?? null;
  }
}

/** The service did not answer: no network, no service, or an answer that broke off. */
export class Unreachable extends Error {
  /**
   * @param {unknown} cause what `fetch` threw.
   * @param {{again?: (() => Promise<any>)|null}} [beside] a function that repeats exactly this request.
   */
  constructor(cause, { again = null } = {}) {
    super("the service cannot be reached", { cause });
    this.name = "Unreachable";
    this.code = "UNREACHABLE";
    this.again = again;
  }

  get isTemporary() {
    return true;
  }

  get isOutcomeUnknown() {
    return true;
  }
}

const TEMPORARY = new Set([
  "RATE_LIMITED", "OVERLOADED", "DRAINING", "DATABASE_UNAVAILABLE", "UPSTREAM_UNAVAILABLE", "IDEMPOTENCY_IN_PROGRESS",
]);
