// How long to wait before the next try: doubling, with jitter, so that many clients do not come back at once.

/** Pauses of 0.5 s to 15 s. */
export class Backoff {
  #failures = 0;
  #random;

  /** @param {() => number} random from 0 to 1. */
  constructor(random) {
    this.#random = random;
  }

  /**
   * The next pause in milliseconds: half of the bound at least, and the bound doubles.
   * @param {number} [leastMs] never less than this, as `Retry-After` asks.
   */
  next(leastMs = 0) {
    const boundMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 16);
    return Math.max(leastMs, boundMs * (0.5 + this.#random() / 2));
  }

  /** Begin anew: something has worked. */
  reset() {
    this.#failures = 0;
  }
}

const FIRST_MS = 500;
const LONGEST_MS = 15_000;
