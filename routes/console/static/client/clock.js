// What time it is for the service, whatever this device takes for now.

/** The service's clock, as far as it has been told. */
export class Clock {
  #aheadMs = null;

  /** Take what the service says that it is now, in epoch milliseconds; what is no number tells nothing. */
  hear(serverMs) {
    if (Number.isFinite(serverMs)) this.#aheadMs = serverMs - Date.now();
  }

  /** Whether the service has said yet what time it is. */
  get isKnown() {
    return this.#aheadMs !== null;
  }

  /** How much the service's clock is ahead of this device's; 0 as long as that is not known. */
  get aheadMs() {
    return this.#aheadMs ?? 0;
  }

  /** The service's time in epoch milliseconds. */
  nowMs() {
    return Date.now() + this.aheadMs;
  }
}
