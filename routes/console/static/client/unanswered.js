// What has been said over the live socket, or waits to be, and has no answer yet.
import { Problem, Unreachable } from "./problem.js";

/**
 * Commands in the order of saying, each with an id of its own.
 *
 * @typedef {object} Waiting
 * @property {boolean} [isLasting] it is said again over each next connection; otherwise it ends with its own.
 * @property {(frame: any, connection: any) => void} answer takes the reply, and which connection it came over.
 * @property {(error: Error) => void} fail takes why there will be none.
 */
export class Unanswered {
  #waiting = new Map(); // {id: {command, connection, isLasting, answer, fail}}
  #nextId = 1;

  /** How many there are. */
  get size() {
    return this.#waiting.size;
  }

  /**
   * Keep a command until it is answered.
   *
   * @param {object} command
   * @param {import("./connection.js").Connection|null} connection that it is said over first; null for none yet.
   * @param {Waiting} waiting
   * @returns {object} the command with its id, as it is said.
   */
  add(command, connection, { isLasting = false, answer, fail }) {
    const id = this.#nextId++;
    const numbered = { ...command, id };
    this.#waiting.set(id, { command: numbered, connection, isLasting, answer, fail });
    return numbered;
  }

  /** Take a reply; one to what was said over two connections is passed over the second time. */
  answer(frame, connection) {
    this.#take(frame.id)?.answer(frame, connection);
  }

  /** Say all that lasts, over one more connection. */
  sayAgain(connection) {
    for (const one of this.#waiting.values()) if (one.isLasting) connection.say(one.command);
  }

  /** A connection is gone: what was asked over it gets no answer, but for what lasts. */
  lose(connection) {
    const error = new Unreachable(new Error("the connection broke"));
    for (const [id, one] of [...this.#waiting]) {
      if (one.connection === connection && !one.isLasting) this.#take(id).fail(error);
    }
  }

  /** Whether a connection is still to answer something that is not said over any other. */
  isOwedBy(connection) {
    return [...this.#waiting.values()].some((one) => one.connection === connection && !one.isLasting);
  }

  /** There will be no answer to any of them. */
  abandon(error) {
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.fail(error);
  }

  #take(id) {
    const one = this.#waiting.get(id);
    this.#waiting.delete(id);
    return one;
  }
}

/**
 * Refuse a command over which the service would end the connection, and with it all that is watched.
 *
 * @param {object} command
 * @throws {Problem} it is longer than the service takes, or has half of a character that JSON cannot say.
 * @throws {TypeError} it is nothing that JSON can say.
 */
export function check(command) {
  const json = JSON.stringify({ ...command, id: Number.MAX_SAFE_INTEGER });
  if (new TextEncoder().encode(json).length > MOST_BYTES) {
    throw new Problem({ code: "PAYLOAD_TOO_LARGE", message: "a command has at most 64 KiB" }, { status: 413 });
  }
  if (HALF.test(json)) throw new Problem({ code: "MALFORMED_JSON", message: "a text has half of a character" }, { status: 400 });
}

const MOST_BYTES = 65_536;
const HALF = /(?<!\\)(?:\\\\)*\\ud[89a-f]/; // whole ones are written as they are
