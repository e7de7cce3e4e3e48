// Messages that are written and not acknowledged yet. They are sent again over every connection until they are.
import { signal } from "@preact/signals";
import { guard } from "../../router.js";
import { partyline, status } from "../../session.js";

/** {conversation: [{clientMessageId, message, error}]}; what has failed stays until it is tried again or dropped. */
export const unsent = signal({});

// They are kept in this tab alone: whoever closes it is asked; other pages of the console leave them as they are.
guard(({ isLeaving } = {}) => !isLeaving || status.value !== "in" || Object.values(unsent.value).every((entries) => entries.length === 0));

let nextNumber = 1;
const page = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Send a message and keep it in sight until it is durable. */
export function send(conversation, message) {
  const entry = { clientMessageId: `${page}-${nextNumber++}`, message, error: null };
  put(conversation, [...of(conversation), entry]);
  deliver(conversation, entry);
}

/** Try a message that was refused once more, as the same message. */
export function sendAgain(conversation, entry) {
  const tried = { ...entry, error: null };
  put(conversation, of(conversation).map((one) => (one === entry ? tried : one)));
  deliver(conversation, tried);
}

/** Give a refused message up. */
export function drop(conversation, entry) {
  put(conversation, of(conversation).filter((one) => one !== entry));
}

/** Forget those that have arrived, by their ids. */
export function arrived(conversation, clientMessageIds) {
  const waiting = of(conversation);
  const left = waiting.filter((entry) => !clientMessageIds.has(entry.clientMessageId));
  if (left.length < waiting.length) put(conversation, left);
}

const of = (conversation) => unsent.value[conversation] ?? [];

function put(conversation, entries) {
  unsent.value = { ...unsent.value, [conversation]: entries };
}

async function deliver(conversation, entry) {
  const { clientMessageId, message } = entry;
  try {
    await partyline.live.send(`conversation:${conversation}`, { ...message, clientMessageId });
    put(conversation, of(conversation).filter((one) => one.clientMessageId !== clientMessageId));
  } catch (error) {
    put(conversation, of(conversation).map((one) => (one.clientMessageId === clientMessageId ? { ...one, error } : one)));
  }
}
