// What a live socket does when its connection has been closed.
import { Problem } from "./problem.js";

/** Connect again, sooner or later. @param {import("./live.js").Live} live @param {boolean} wasOpen */
export const again = (live, wasOpen) => live.reconnect({ wasOpen });
const later = (live) => live.reconnect({ leastMs: 10_000 });
const withNewToken = (live) => live.reconnect({ needsToken: true });
const never = (live) => live.stop(new Problem({ code: "PROTOCOL", message: "the service refused what was said" }));

/** {close code: what it asks for}; docs/errors.md says why. */
export const DUTIES = { 1002: never, 1007: never, 1011: later, 4400: never, 4401: withNewToken, 4403: never, 4413: never, 4429: later };
