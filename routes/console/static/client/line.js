// The connections of one live socket: the one that is spoken over and, while another takes over from it, a second one.
import { Connection } from "./connection.js";

/**
 * What a live socket is connected by. A connection is spoken over once it is open; the one before is heard until it is
 * retired, and takes its place again where the newer one is lost first.
 *
 * @typedef {object} LineListener
 * @property {(connection: Connection) => void} stands from now on this one is spoken over.
 * @property {(frame: any, connection: Connection) => void} heard
 * @property {(connection: Connection) => void} lost nothing more comes from this one.
 * @property {() => void} opening nothing is to be spoken over until the one on its way is open.
 * @property {(code: number, connection: Connection) => void} gone the last one was lost, and none is on its way.
 */
export class Line {
  #listener;
  #opening = null;
  #current = null;
  #former = null;

  /** @param {LineListener} listener */
  constructor(listener) {
    this.#listener = listener;
  }

  /** The connection that is spoken over; null for none. */
  get current() {
    return this.#current;
  }

  /** Whether there is one open connection, and no other beside it. */
  get isSettled() {
    return this.isOpen && this.#opening === null && this.#former === null;
  }

  /** Whether what is said now will be sent. */
  get isOpen() {
    return this.#current?.isOpen ?? false;
  }

  /** Open a connection; where there is one, it takes over from that. Arguments as of `Connection`. */
  open(WebSocketClass, url, token) {
    this.#opening = new Connection(WebSocketClass, url, token, {
      opened: (connection) => this.#opened(connection),
      heard: this.#listener.heard,
      closed: (code, connection) => this.#closed(code, connection),
    });
    if (this.#current === null) this.#listener.opening();
  }

  /** Say something over every connection that may show channels. */
  sayEverywhere(command) {
    for (const connection of [this.#current, this.#former]) connection?.say(command);
  }

  /** Close the connection that was taken over from, unless it is still needed. */
  retire(isNeeded) {
    if (this.#former === null || !this.isOpen || isNeeded(this.#former)) return;
    this.#former.close();
    this.#former = null;
  }

  /** Close whatever there is. */
  drop() {
    const connections = [this.#opening, this.#current, this.#former].filter(Boolean);
    this.#opening = this.#current = this.#former = null;
    for (const connection of connections) {
      connection.close();
      this.#listener.lost(connection);
    }
  }

  #opened(connection) {
    this.#opening = null;
    this.#former = this.#current;
    this.#current = connection;
    this.#listener.stands(connection);
  }

  #closed(code, connection) {
    const wasCurrent = connection === this.#current;
    if (connection === this.#opening) this.#opening = null;
    if (wasCurrent) this.#current = this.#former;
    if (wasCurrent || connection === this.#former) this.#former = null;
    this.#listener.lost(connection);
    if (this.#current === null) {
      if (this.#opening === null) this.#listener.gone(code, connection);
      else this.#listener.opening();
    } else if (wasCurrent) this.#listener.stands(this.#current);
  }
}
