// The types of /client/partyline.js, for TypeScript and for editors.

/** A fresh access token. */
export interface Grant {
  token: string;
  /** ISO 8601; with it, the token is renewed at four fifths of its life. */
  expiresAt?: string;
  user?: { id: string; name: string };
  permissions?: string[];
}

export interface Options {
  /** Address of the service; the page's own by default. */
  url?: string;
  /** An access token. Alone, it is used until it ends. */
  token?: string;
  /** Gets a fresh token; null where the user is signed out. */
  getToken?: () => Promise<Grant | null>;
  fetch?: typeof fetch;
  /** Of the package `ws` for Node below 22. */
  WebSocket?: unknown;
  /** From 0 to 1; spreads tries to connect. */
  random?: () => number;
}

/** One user's side of one service. */
export class Partyline {
  constructor(options?: Options);
  readonly session: Session;
  readonly rest: Rest;
  readonly live: Live;
  /** Take up the session of this browser; false where there is none. */
  restore(): Promise<boolean>;
  /** Sign this browser in with the code of a one-time link, or with an access token. */
  signIn(credential: { code: string } | { token: string }): Promise<void>;
  /** End this browser's session, here and at the service. */
  signOut(): Promise<void>;
  /** End everything of this client, so that a program can end; nothing is signed out at the service. */
  close(): void;
}

/**
 * The access token of one user, kept fresh. Events: `renewed`; `other` before it, when the token is another user's than the
 * last; and `end` when there is none to be had any more.
 */
export class Session extends EventTarget {
  private constructor();
  readonly user: { id: string; name: string } | null;
  readonly lastUserId: string | null;
  readonly permissions: string[];
  token(): string | null;
  take(grant: Grant): void;
  renew(): Promise<boolean>;
  end(reason?: Problem): void;
  /** Forget the token without a word, and get none any more. */
  close(): void;
}

/** Values that are null or undefined are left out; arrays repeat their name. */
export type Query = Record<string, QueryValue | readonly QueryValue[]>;
export type QueryValue = string | number | boolean | null | undefined;

export interface RequestOptions {
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  /** The revision that the change was made from. */
  ifMatch?: string;
  /** Of POST and PUT; a new one by default. */
  idempotencyKey?: string;
  headers?: Record<string, string>;
  /** Send no credential. */
  anonymous?: boolean;
  credentials?: "omit" | "same-origin" | "include";
  /** Resolve with the `Response`, whose body is not read. */
  raw?: boolean;
  signal?: AbortSignal;
}

/** Requests: JSON in, JSON out. Each rejects with `Problem` or `Unreachable`, and resolves with null for 204. */
export class Rest {
  private constructor();
  request<T = any>(method: string, path: string, options?: RequestOptions): Promise<T>;
  get<T = any>(path: string, query?: Query, options?: RequestOptions): Promise<T>;
  post<T = any>(path: string, body?: unknown, options?: RequestOptions): Promise<T>;
  put<T = any>(path: string, body: unknown, options?: RequestOptions): Promise<T>;
  patch<T = any>(path: string, body: unknown, options?: RequestOptions): Promise<T>;
  delete<T = any>(path: string, options?: RequestOptions): Promise<T>;
  /** Every item of a list, page by page, as they are asked for. */
  items<T = any>(path: string, query?: Query, options?: RequestOptions): AsyncGenerator<T, void, undefined>;
}

export interface Frame {
  type: "snapshot" | "event";
  channel: string;
  epoch: string | null;
  offset: number | null;
  event?: string;
  skipped?: number;
  data: any;
  self?: any;
}

export interface Handlers<T = any> {
  /** The whole channel; it replaces what was known. */
  onSnapshot?: (data: T, frame: Frame) => void;
  /** One change, each once and in order. */
  onEvent?: (event: string, data: any, frame: Frame) => void;
  /** A new connection has taken over: every missed event follows, or, where `recovered` is false, a snapshot. */
  onResume?: (recovered: boolean) => void;
  /** The channel is no longer shown, or never was. */
  onEnd?: (error: Problem) => void;
}

export type State = "closed" | "connecting" | "live" | "waiting";

/** The one live socket. Events: `state` whenever that changes, and `end` when it will not connect again by itself. */
export class Live extends EventTarget {
  private constructor();
  readonly state: State;
  /** When the service last said anything, by `Date.now()`. */
  readonly heardAtMs: number;
  readonly aheadMs: number;
  subscribe<T = any>(
    channel: string,
    options: Handlers<T> & { mode?: "snapshot" | "delta"; limit?: number },
  ): Subscription;
  /** Resolves with the message once it is durable, however many connections that takes. */
  send<T = any>(channel: string, message: Record<string, unknown>): Promise<T>;
  read(channel: string, messageId: string): Promise<any>;
  typing(channel: string): void;
  /** Have the service say something. */
  ping(): void;
  /** Ask the connection at once, and give it up where there is no answer. */
  doubt(): void;
  wake(): void;
  refresh(): void;
  pause(): void;
  resume(): void;
  close(): void;
}

/** A channel that is watched; it outlives connections. */
export class Subscription {
  private constructor();
  readonly channel: string;
  readonly params: Record<string, unknown>;
  close(): void;
}

export interface FieldError {
  /** JSON pointer into the body. */
  pointer: string;
  code: string;
  message: string;
}

/** A refusal of the service. */
export class Problem extends Error {
  constructor(
    document: { code?: string; message?: string; title?: string; [more: string]: unknown },
    beside?: { status?: number; retryAfterMs?: number | null; again?: (() => Promise<any>) | null },
  );
  readonly status: number;
  readonly code: string;
  readonly errors: FieldError[];
  readonly meta: Record<string, any>;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  /** Repeats exactly this request, under its key. */
  readonly again: (() => Promise<any>) | null;
  readonly isTemporary: boolean;
  readonly isOutcomeUnknown: boolean;
  /** The message about one field of the body; null where that field is right. */
  about(pointer: string): string | null;
}

/** The service did not answer. */
export class Unreachable extends Error {
  constructor(cause: unknown, beside?: { again?: (() => Promise<any>) | null });
  readonly code: "UNREACHABLE";
  readonly again: (() => Promise<any>) | null;
  readonly isTemporary: true;
  readonly isOutcomeUnknown: true;
}
