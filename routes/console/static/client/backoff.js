// How long to wait before the next try: doubling, with jitter, so that many clients do not come back at once.

/** Pauses of up to 0.5 s, growing to 15 s; longer ones only where the service asks for them. */
export class Backoff {
  #failures = 0;
  #random;

  /** @param {() => number} random from 0 to 1. */
  constructor(random) {
    this.#random = random;
  }

  /**
   * The next pause in milliseconds: half of the bound at least, and the bound doubles.
   * @param {number} [leastMs] never less than this, as `Retry-After` asks; the bound then begins at twice as much.
   */
  next(leastMs = 0) {
    const firstMs = Math.max(FIRST_MS, 2 * leastMs);
    const boundMs = Math.min(Math.max(LONGEST_MS, 4 * leastMs), firstMs * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 16);
    return boundMs * (0.5 + this.#random() / 2);
  }

  /** Begin anew: something has worked. */
  reset() {
    this.#failures = 0;
  }

  /** Begin anew where what has ended had lasted: a service that greets and falls is not to be asked twice a second. */
  weigh(lastedMs) {
    if (lastedMs >= STEADY_MS) this.reset();
  }
}

const FIRST_MS = 500;
const LONGEST_MS = 15_000;
const STEADY_MS = 10_000;
