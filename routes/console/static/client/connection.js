// One WebSocket of `/v1/social/live`, from its opening to its end. What outlives it is in live.js.

/** A connection that tells its owner of each frame, and notices when the other side has gone without a word. */
export class Connection {
  #socket;
  #listener;
  #timer = 0; // until it is asked or given up
  #openedAtMs = null; // by performance.now()
  #ended = false;

  /**
   * @param {typeof WebSocket} WebSocketClass
   * @param {string} url `ws(s)://…/v1/social/live?channels=`.
   * @param {string} token an access token; it travels as a subprotocol, since browsers send no header here, and
   *   addresses stand in logs.
   * @param {{opened: (connection: Connection) => void, heard: (frame: any, connection: Connection) => void,
   *   closed: (code: number, connection: Connection) => void}} listener
   */
  constructor(WebSocketClass, url, token, listener) {
    this.#listener = listener;
    this.#socket = new WebSocketClass(url, ["svc.v1", `svc-bearer.${base64url(token)}`]);
    this.#timer = setTimeout(() => this.#giveUp(), OPENING_MS);
    this.#socket.onopen = () => {
      if (this.#ended) return;
      this.#openedAtMs = performance.now();
      this.#watch();
      listener.opened(this);
    };
    this.#socket.onmessage = ({ data }) => {
      if (this.#ended) return; // The package `ws` goes on telling while it closes.
      this.#watch();
      listener.heard(JSON.parse(data), this);
    };
    this.#socket.onclose = ({ code }) => this.#end(code);
    // `close` follows, and says more; but not in every Node, where a connection was refused.
    this.#socket.onerror = () => setTimeout(() => this.#end(ABNORMAL));
  }

  /** Whether it was ever open; else it was refused, or never answered. */
  get wasOpen() {
    return this.#openedAtMs !== null;
  }

  /** For how many milliseconds it has been open, or was until now. */
  get stoodMs() {
    return this.wasOpen ? performance.now() - this.#openedAtMs : 0;
  }

  /** Whether what is said now will be sent. */
  get isOpen() {
    return !this.#ended && this.#socket.readyState === OPEN;
  }

  /** Send a command; false where the connection is not open. */
  say(command) {
    if (!this.isOpen) return false;
    this.#socket.send(JSON.stringify(command));
    return true;
  }

  /** Ask at once whether the other side is still there; it has two seconds to say so. */
  doubt() {
    this.#ask(DOUBTED_ANSWER_MS);
  }

  /** Close, and tell the listener nothing more. */
  close() {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#socket.close(1000);
  }

  // A connection that says nothing for 25 s is asked, and given up where no answer comes within 10 s more.
  #watch() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(ANSWER_MS), QUIET_MS);
  }

  #ask(answerMs) {
    if (!this.say(PING)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveUp(), answerMs);
  }

  #giveUp() {
    this.#end(ABNORMAL);
    this.#socket.close(1000);
  }

  #end(code) {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#listener.closed(code, this);
  }
}

/** What gets a reply that nobody waits for. */
export const PING = { id: 0, op: "ping" };

const OPEN = 1;
const ABNORMAL = 1006;
const OPENING_MS = 15_000; // a balancer may take a connection whose back end never answers
const QUIET_MS = 25_000;
const ANSWER_MS = 10_000;
const DOUBTED_ANSWER_MS = 2_000;

function base64url(text) {
  const binary = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
