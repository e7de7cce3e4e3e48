// One conversation: its newest messages, live, and older ones when one scrolls up to them.
import { h } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { chat } from "../../api.js";
import { html } from "../../html.js";
import { useChannel } from "../../live.js";
import { me, partyline } from "../../session.js";
import { Fault, Loading } from "../../ui/states.js";
import { say } from "../../words.js";
import { useReadOut } from "./announcing.js";
import { Composer } from "./composer.js";
import { Members } from "./members.js";
import { Message } from "./message.js";
import { arrived, drop, send, sendAgain, unsent } from "./outbox.js";
import { EMPTY, applied, withOlder } from "./thread-state.js";
import { titleOf } from "../../ui/conversation-title.js";

const NEAR_END_PX = 40;
const PAUSE_MS = 5 * 60_000;

/** @param {{id: string}} props of the conversation. */
export function Thread({ id }) {
  const [thread, setThread] = useState(EMPTY);
  const [error, setError] = useState(null);
  useEffect(() => { setThread(EMPTY); setError(null); }, [id]);
  useChannel(`conversation:${id}`, (frames) => {
    arrived(id, new Set(frames.flatMap((frame) => (frame.data?.items ?? [frame.data]).map((message) => message?.clientMessageId))));
    setThread((before) => applied(before, frames, Date.now()));
  }, { mode: "delta", limit: 100, onEnd: setError });
  if (error) return html`<div class="thread"><${Back} /><${Fault} error=${error} isWhole /></div>`;
  if (thread.conversation === null) return html`<div class="thread"><${Back} /><${Loading} /></div>`;
  const title = titleOf(thread.conversation);
  const changed = (message) => setThread((before) => ({ ...before, items: before.items.map((one) => (one.id === message.id ? message : one)) }));
  return html`<section class="thread" aria-label=${title}>
    <header><${Back} /><h1 tabindex="-1"><bdi>${title}</bdi></h1><${Members} conversation=${thread.conversation} /></header>
    <${Messages} id=${id} thread=${thread} changed=${changed} older=${(page) => setThread((before) => withOlder(before, page))} />
    <${Typing} thread=${thread} />
    <${Composer} conversation=${thread.conversation} title=${title} send=${(message) => send(id, message)} />
  </section>`;
}

const Back = () => html`<a class="back" href="/app/chat" aria-label=${say("chat.all")}>‹</a>`;

// What has not changed is not drawn anew. Two hundred messages, fifty times a second. (Giving Preact the very same vnode
// would do that too; but that one holds the list as it was first drawn in, and by it every message there has ever been.)
function Drawn(props) {
  this.shouldComponentUpdate = (next) => next.message !== this.props.message || next.isFirst !== this.props.isFirst;
  return h(Message, props);
}

function Messages({ id, thread, changed, older }) {
  const box = useRef(null);
  const isAtEnd = useRef(true);
  const [missed, setMissed] = useState(0);
  const last = thread.items.at(-1);
  const waiting = unsent.value[id] ?? [];
  const isReadOut = useReadOut(thread.items);
  useLayoutEffect(() => {
    if (isAtEnd.current) toEnd();
    else if (last?.id) setMissed((count) => count + 1);
  }, [last?.id, waiting.length]);
  useEffect(() => {
    if (last && isAtEnd.current && !document.hidden) partyline.live.read(`conversation:${id}`, last.id).catch(() => {});
  }, [last?.id]);
  const toEnd = () => {
    box.current.scrollTop = box.current.scrollHeight;
    setMissed(0);
  };
  const scrolled = () => {
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    if (isAtEnd.current) setMissed(0);
  };
  return html`<div class="messages" role="log" aria-live=${isReadOut ? "polite" : "off"} aria-label=${say("chat.messages")} tabindex="0" ref=${box} onScroll=${scrolled}>
      <${Older} id=${id} thread=${thread} older=${older} box=${box} />
      <ol>
        ${thread.items.map((message, n) => h(Drawn, { key: message.id, message, changed, isFirst: beginsBlock(message, thread.items[n - 1]) }))}
        ${waiting.map((entry) => html`<${Waiting} key=${entry.clientMessageId} id=${id} entry=${entry} />`)}
      </ol>
      ${thread.items.length === 0 && waiting.length === 0 && html`<p class="dim">${say("chat.nothingYet")}</p>`}
    </div>
    ${missed > 0 && html`<button type="button" class="jump" onClick=${toEnd}>${say("chat.new", { count: missed })}</button>`}`;
}

const beginsBlock = (message, before) => !before || before.senderId !== message.senderId || message.createdAtMs - before.createdAtMs > PAUSE_MS;

function Older({ id, thread, older, box }) {
  const [state, setState] = useState({ isRunning: false, error: null });
  if (!thread.hasOlder) return null;
  const load = async () => {
    setState({ isRunning: true, error: null });
    try {
      const page = await chat.messages(id, { limit: 100, beforeMs: thread.items[0].createdAtMs });
      const { scrollHeight, scrollTop } = box.current;
      older(page);
      // What was in sight stays where it is.
      requestAnimationFrame(() => { box.current.scrollTop = scrollTop + box.current.scrollHeight - scrollHeight; });
      setState({ isRunning: false, error: null });
    } catch (error) {
      setState({ isRunning: false, error });
    }
  };
  return html`<button type="button" class="older" disabled=${state.isRunning} onClick=${load}>${say("chat.older")}</button>
    ${state.error && html`<${Fault} error=${state.error} retry=${load} />`}`;
}

function Waiting({ id, entry }) {
  const text = entry.message.content || entry.message.poll?.question || "";
  return html`<li class="message waiting"><p class="text" dir="auto">${text}</p>
    ${entry.error
      ? html`<p class="bad" role="alert">${entry.error.message}
          <button type="button" class="link" onClick=${() => sendAgain(id, entry)}>${say("action.retry")}</button>
          <button type="button" class="link" onClick=${() => drop(id, entry)}>${say("action.discard")}</button></p>`
      : html`<small class="dim">${say("chat.sending")}</small>`}</li>`;
}

function Typing({ thread }) {
  const [nowMs, setNow] = useState(Date.now());
  const until = Math.max(0, ...Object.values(thread.typing));
  useEffect(() => {
    setNow(Date.now());
    if (until <= Date.now()) return undefined;
    const timer = setTimeout(() => setNow(Date.now()), until - Date.now() + 50);
    return () => clearTimeout(timer);
  }, [until]);
  const writing = thread.conversation.participants.filter((one) => one.id !== me.value.id && (thread.typing[one.id] ?? 0) > nowMs);
  const text = writing.length === 0 ? "" : writing.length === 1 ? say("chat.writes", { name: writing[0].name }) : say("chat.severalWrite");
  return html`<p class="typing dim" aria-live="off">${text}</p>`;
}
