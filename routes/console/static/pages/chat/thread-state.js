// What a thread shows, as a pure function of frames and pages: messages, within a window, and who is writing.

/** Most messages that a thread shows. */
export const WINDOW = 200;

/** Most messages that are asked for at once. */
export const PAGE = 100;

/**
 * Nothing yet. `items` are shown. They are the newest, unless somebody reads older ones: then `tail` holds the newest, at most
 * a page, and `between` what is left out between the two, as {count, lastMs} of each page, the next one first. `outdated` are
 * pages of what is shown that a snapshot has not told anew. `come` counts what has been written since the thread was opened.
 */
export const EMPTY = { conversation: null, items: [], between: [], tail: [], outdated: [], typing: {}, hasOlder: false, come: 0 };

/**
 * Apply frames of the channel `conversation:<id>` in delta mode, in order.
 *
 * @param {typeof EMPTY} thread
 * @param {Array<{type: string, event?: string, data: any, self?: any}>} frames
 * @param {number} nowMs
 * @param {boolean} isAtEnd whether the newest message is in sight: what is too much goes from the other end.
 * @returns {typeof EMPTY}
 */
export function applied(thread, frames, nowMs, isAtEnd) {
  let next = { ...thread, items: [...thread.items], tail: [...thread.tail], typing: { ...thread.typing } };
  for (const frame of frames) next = frame.type === "snapshot" ? replaced(next, frame.data, isAtEnd) : changed(next, frame, nowMs);
  return isAtEnd && !isCut(next) ? withoutOldest(next) : withoutNewest(next);
}

/** Whether newer messages than those that are shown are left out. */
export const isCut = (thread) => thread.tail.length > 0;

/** Put an older page before what is there, unless something else begins it by now than when it was asked for. */
export function withOlder(thread, page, first) {
  if (thread.items[0]?.id !== first.id) return thread;
  return withoutNewest({ ...thread, items: [...page.items, ...thread.items], hasOlder: page.hasMore });
}

/**
 * Put the next newer page behind what is there, unless something else ends it by now than when it was asked for.
 *
 * @param {typeof EMPTY} thread
 * @param {{items: any[]}} page
 * @param {{last: any, limit: number}} asked the message that ended it then, and how many were asked for.
 */
export function withNewer(thread, page, { last, limit }) {
  if (thread.between.length === 0 || thread.items.at(-1)?.id !== last.id) return thread;
  const [{ count, lastMs }, ...rest] = thread.between;
  const left = count - limit; // what has come to it while it was asked for
  return withoutOldest({ ...thread, items: [...thread.items, ...page.items], between: left > 0 ? [{ count: left, lastMs }, ...rest] : rest });
}

/** Put the newest behind what is there, where nothing is left out between the two. */
export function withTail(thread) {
  if (!isCut(thread) || thread.between.length > 0) return thread;
  return withoutOldest({ ...thread, items: [...thread.items, ...thread.tail], tail: [] });
}

/** Show the newest, wherever one was. */
export const toNewest = (thread) => (isCut(thread) ? { ...thread, items: thread.tail, tail: [], between: [], hasOlder: true } : thread);

/** Put a message in the place of what it was. */
export function withMessage(thread, message) {
  const put = (list) => list.map((one) => (one.id === message.id ? message : one));
  return { ...thread, items: put(thread.items), tail: put(thread.tail) };
}

/** Put messages that were read again in the place of what they were. */
export const withAnew = (thread, { items }) => items.reduce(withMessage, thread);

function withoutOldest(thread) {
  if (thread.items.length <= WINDOW) return thread;
  return { ...thread, items: thread.items.slice(-WINDOW), hasOlder: true };
}

function withoutNewest(thread) {
  const cut = thread.items.slice(WINDOW);
  const isBeforeOthers = thread.between.length > 0;
  const newest = isBeforeOthers ? thread.tail : [...cut, ...thread.tail];
  const between = [...noted([], isBeforeOthers ? cut : []), ...thread.between];
  return { ...thread, items: thread.items.slice(0, WINDOW), between: noted(between, newest.slice(0, -PAGE)), tail: newest.slice(-PAGE) };
}

function noted(pages, messages) {
  for (const { createdAtMs: lastMs } of messages) {
    const last = pages.at(-1);
    if (last && last.count < PAGE) pages = [...pages.slice(0, -1), { count: last.count + 1, lastMs }];
    else pages = [...pages, { count: 1, lastMs }];
  }
  return pages;
}

function replaced(thread, { conversation, items, hasMore }, isAtEnd) {
  const last = (isCut(thread) ? thread.tail : thread.items).at(-1);
  const fresh = thread.conversation === null ? [] : items.filter((message) => message.createdAtMs > (last?.createdAtMs ?? 0));
  const told = { ...thread, conversation, come: thread.come + fresh.length };
  const isReading = !isAtEnd && hasMore && last?.createdAtMs >= items[0].createdAtMs; // and nothing lies between the two
  return isReading ? renewed(told, items) : { ...told, items: [...items], between: [], tail: [], outdated: [], hasOlder: hasMore };
}

// The newest are as a snapshot has them, and whoever reads older ones stays there.
function renewed(thread, newest) {
  const isApart = thread.between.length > 0;
  const isOlder = (message) => message.createdAtMs < newest[0].createdAtMs;
  const older = (isApart ? thread.tail : [...thread.items, ...thread.tail]).filter(isOlder);
  const outdated = noted([], isApart ? thread.items : older);
  if (isApart) return { ...thread, between: noted(thread.between, older), tail: [...newest], outdated };
  return { ...thread, items: [...older, ...newest], tail: [], outdated };
}

function changed(thread, { event, data, self }, nowMs) {
  switch (event) {
    case "message_created":
      delete thread.typing[data.senderId];
      if (known(thread, data.id)) return thread;
      (isCut(thread) ? thread.tail : thread.items).push(data);
      return { ...thread, come: thread.come + 1 };
    case "message_edited":
    case "message_deleted":
    case "poll_updated": {
      const before = known(thread, data.id);
      return before ? withMessage(thread, withChoice(data, self, before)) : thread;
    }
    case "conversation_updated":
      return { ...thread, conversation: { ...thread.conversation, ...(data.conversation ?? data) } };
    case "typing":
      thread.typing[data.userId] = nowMs + TYPING_MS;
      return thread;
    default:
      return thread;
  }
}

const known = ({ items, tail }, id) => [items, tail].map((list) => list.find((message) => message.id === id)).find(Boolean);

// In delta mode a poll carries no choice of one's own; what is known of it stays, unless the event says.
function withChoice(message, self, before) {
  if (!message.poll) return message;
  const chosen = self?.selected ?? before.poll?.options.filter((option) => option.selected).map((option) => option.id) ?? [];
  const options = message.poll.options.map((option) => ({ ...option, selected: chosen.includes(option.id) }));
  return { ...message, poll: { ...message.poll, options } };
}

const TYPING_MS = 5_000;
