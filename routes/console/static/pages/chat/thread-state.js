// What a thread shows, as a pure function of frames: the newest messages, within a window, and who is writing.

/** Most messages that a thread holds in the page. */
export const WINDOW = 200;

/** Nothing yet. */
export const EMPTY = { conversation: null, items: [], typing: {}, hasOlder: false };

/**
 * Apply frames of the channel `conversation:<id>` in delta mode, in order.
 *
 * @param {typeof EMPTY} thread
 * @param {Array<{type: string, event?: string, data: any, self?: any}>} frames
 * @param {number} nowMs
 * @returns {typeof EMPTY}
 */
export function applied(thread, frames, nowMs) {
  let next = { ...thread, items: [...thread.items], typing: { ...thread.typing } };
  for (const frame of frames) next = frame.type === "snapshot" ? replaced(next, frame.data) : changed(next, frame, nowMs);
  if (next.items.length > WINDOW) next = { ...next, items: next.items.slice(-WINDOW), hasOlder: true };
  return next;
}

/** Put an older page before what is there. */
export function withOlder(thread, page) {
  const known = new Set(thread.items.map((message) => message.id));
  const items = [...page.items.filter((message) => !known.has(message.id)), ...thread.items];
  return { ...thread, items, hasOlder: page.hasMore };
}

function replaced(thread, { conversation, items, hasMore }) {
  return { ...thread, conversation, items: [...items], hasOlder: hasMore };
}

function changed(thread, { event, data, self }, nowMs) {
  switch (event) {
    case "message_created":
      delete thread.typing[data.senderId];
      if (!thread.items.some((message) => message.id === data.id)) thread.items.push(data);
      return thread;
    case "message_edited":
    case "message_deleted":
    case "poll_updated": {
      const at = thread.items.findIndex((message) => message.id === data.id);
      if (at >= 0) thread.items[at] = withChoice(data, self, thread.items[at]);
      return thread;
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

// In delta mode a poll carries no choice of one's own; what is known of it stays, unless the event says.
function withChoice(message, self, before) {
  if (!message.poll) return message;
  const chosen = self?.selected ?? before.poll?.options.filter((option) => option.selected).map((option) => option.id) ?? [];
  const options = message.poll.options.map((option) => ({ ...option, selected: chosen.includes(option.id) }));
  return { ...message, poll: { ...message.poll, options } };
}

const TYPING_MS = 5_000;
