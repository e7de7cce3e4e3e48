// One WebSocket of `/v1/social/live`, from its opening to its end. What outlives it is in live.js.

/** A connection that tells its owner of each frame, and notices when the other side has gone without a word. */
export class Connection {
  #socket;
  #listener;
  #quietTimer = 0;
  #ended = false;

  /**
   * @param {typeof WebSocket} WebSocketClass
   * @param {string} url `ws(s)://…/v1/social/live?channels=`.
   * @param {string} token an access token; it travels as a subprotocol, since browsers send no header here, and
   *   addresses stand in logs.
   * @param {{opened: (connection: Connection) => void, heard: (frame: any, connection: Connection) => void,
   *   closed: (code: number, wasOpen: boolean, connection: Connection) => void}} listener
   */
  constructor(WebSocketClass, url, token, listener) {
    this.#listener = listener;
    this.#socket = new WebSocketClass(url, ["svc.v1", `svc-bearer.${base64url(token)}`]);
    let wasOpen = false;
    this.#socket.onopen = () => {
      wasOpen = true;
      this.#watch();
      listener.opened(this);
    };
    this.#socket.onmessage = ({ data }) => {
      this.#watch();
      listener.heard(JSON.parse(data), this);
    };
    this.#socket.onclose = ({ code }) => this.#end(code, wasOpen);
    // `close` follows, and says more; but not in every Node, where a connection was refused.
    this.#socket.onerror = () => setTimeout(() => this.#end(ABNORMAL, wasOpen));
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
    clearTimeout(this.#quietTimer);
    this.#socket.close(1000);
  }

  // A connection that says nothing for 25 s is asked, and given up where no answer comes within 10 s more.
  #watch() {
    clearTimeout(this.#quietTimer);
    this.#quietTimer = setTimeout(() => this.#ask(ANSWER_MS), QUIET_MS);
  }

  #ask(answerMs) {
    if (!this.say(PING)) return;
    clearTimeout(this.#quietTimer);
    this.#quietTimer = setTimeout(() => {
      this.#end(ABNORMAL, true);
      this.#socket.close(1000);
    }, answerMs);
  }

  #end(code, wasOpen) {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#quietTimer);
    this.#listener.closed(code, wasOpen, this);
  }
}

/** What gets a reply that nobody waits for. */
export const PING = { id: 0, op: "ping" };

const OPEN = 1;
const ABNORMAL = 1006;
const QUIET_MS = 25_000;
const ANSWER_MS = 10_000;
const DOUBTED_ANSWER_MS = 2_000;

function base64url(text) {
  const binary = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
