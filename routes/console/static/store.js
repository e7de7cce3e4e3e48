// What a page has read from the service: loading, there, or a fault; and lists that go on page by page.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

/**
 * Read something when the component appears, and again when `keys` change or `reload` is called. What is there stays in
 * sight while it is read again.
 *
 * @param {(signal: AbortSignal) => Promise<any>} read
 * @param {unknown[]} [keys]
 * @returns {{data: any, error: Error|null, isLoading: boolean, reload: () => Promise<void>, change: (data: any) => void}}
 *   `reload` reads by the newest keys, whenever it was taken; `change` takes data, or what makes it of what is there.
 */
export function useRead(read, keys = []) {
  const [state, setState] = useState({ data: null, error: null, isLoading: true });
  const current = useRef(null);
  // What was begun under other keys, as an undo, reads again what is shown by then.
  const latest = useRef();
  latest.current = read;
  const reload = useCallback(async () => {
    current.current?.abort();
    const { signal } = (current.current = new AbortController());
    setState((before) => ({ ...before, isLoading: true }));
    try {
      const data = await latest.current(signal);
      if (!signal.aborted) setState({ data, error: null, isLoading: false });
    } catch (error) {
      if (!signal.aborted) setState((before) => ({ ...before, error, isLoading: false }));
    }
  }, []);
  useEffect(() => {
    setState({ data: null, error: null, isLoading: true });
    reload();
    return () => current.current?.abort();
  }, keys);
  const change = (data) => setState((before) => ({ ...before, data: typeof data === "function" ? before.data && data(before.data) : data }));
  return { ...state, reload, change };
}

/**
 * Read a list of the service, one page after the other.
 *
 * @param {(query: {cursor?: string}, signal: AbortSignal) => Promise<{items: any[], nextCursor: string|null}>} readPage
 * @param {unknown[]} [keys]
 * @returns as `useRead`, with `items`, and for the button `More` with `hasMore`, `more()`, `isGoingOn` and `moreError`.
 */
export function useList(readPage, keys = []) {
  const first = useRead(async (signal) => readPage({}, signal), keys);
  const [further, setFurther] = useState(IDLE);
  const current = useRef(null);
  useEffect(() => {
    setFurther(IDLE);
    return () => current.current?.abort();
  }, keys);
  const cursor = first.data?.nextCursor;
  const more = async () => {
    if (further.isGoingOn || !cursor) return;
    const { signal } = (current.current = new AbortController());
    setFurther({ isGoingOn: true, moreError: null });
    try {
      const page = await readPage({ cursor }, signal);
      if (signal.aborted) return;
      // Where the list was read again meanwhile, the page may follow another one than its last.
      first.change((before) => (before.nextCursor === cursor ? { ...page, items: [...before.items, ...page.items] } : before));
      setFurther(IDLE);
    } catch (moreError) {
      if (!signal.aborted) setFurther({ isGoingOn: false, moreError });
    }
  };
  return { ...first, items: first.data?.items ?? null, hasMore: Boolean(cursor), more, ...further };
}

const IDLE = { isGoingOn: false, moreError: null };

/**
 * A list that the service pages by offset, for `useList`.
 *
 * @param {(query: {limit: number, offset: number}, signal?: AbortSignal) => Promise<{total: number}>} readPage what it
 *   resolves with has `items` or `entries`.
 * @param {number} limit length of a page.
 */
export const byOffset = (readPage, limit) => async ({ cursor: offset = 0 }, signal) => {
  const { items, entries = items, total } = await readPage({ limit, offset }, signal);
  const next = offset + entries.length;
  return { items: entries, nextCursor: entries.length > 0 && next < total ? next : null };
};

/**
 * Do something that changes things, once at a time.
 *
 * @param {(...args: any[]) => Promise<any>} act
 * @returns {{run: (...args: any[]) => Promise<any>, isRunning: boolean, error: Error|null, clear: () => void}} `run`
 *   resolves with what came of it, or undefined where `error` says why nothing did.
 */
export function useAction(act) {
  const [state, setState] = useState({ isRunning: false, error: null });
  const running = useRef(false);
  const run = async (...args) => {
    if (running.current) return undefined;
    running.current = true;
    setState({ isRunning: true, error: null });
    try {
      const done = await act(...args);
      setState({ isRunning: false, error: null });
      return done;
    } catch (error) {
      setState({ isRunning: false, error });
      return undefined;
    } finally {
      running.current = false;
    }
  };
  return { run, ...state, clear: () => setState({ isRunning: false, error: null }) };
}
