// One conversation: its newest messages, live, and older ones when one scrolls up to them.
import { h } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { chat } from "../../api.js";
import { html } from "../../html.js";
import { connection, useChannel } from "../../live.js";
import { me, partyline } from "../../session.js";
import { useAction } from "../../store.js";
import { Fault, Loading } from "../../ui/states.js";
import { say } from "../../words.js";
import { useReadOut } from "./announcing.js";
import { Composer } from "./composer.js";
import { Members } from "./members.js";
import { Message } from "./message.js";
import { arrived, drop, send, sendAgain, unsent } from "./outbox.js";
import { EMPTY, PAGE, applied, isCut, toNewest, withAnew, withMessage, withNewer, withOlder, withTail } from "./thread-state.js";
import { titleOf } from "../../ui/conversation-title.js";

const NEAR_END_PX = 40;
const PAUSE_MS = 5 * 60_000;
const REWRITTEN_MS = 5_000;

/** @param {{id: string}} props of the conversation. */
export function Thread({ id }) {
  const [thread, setThread] = useState(EMPTY);
  const [error, setError] = useState(null);
  const isAtEnd = useRef(true);
  useChannel(error ? null : `conversation:${id}`, (frames) => {
    arrived(id, new Set(frames.flatMap((frame) => (frame.data?.items ?? [frame.data]).map((message) => message?.clientMessageId))));
    setThread((before) => applied(before, frames, Date.now(), isAtEnd.current));
  }, { mode: "delta", limit: PAGE, onEnd: setError });
  useReadAgain(id, thread.outdated, setThread);
  if (error) return html`<div class="thread"><${Back} /><${Fault} error=${error} retry=${() => setError(null)} isWhole /></div>`;
  if (thread.conversation === null) return html`<div class="thread"><${Back} /><${Loading} /></div>`;
  const title = titleOf(thread.conversation);
  const changed = (message) => setThread((before) => withMessage(before, message));
  const goToNewest = () => {
    isAtEnd.current = true;
    setThread(toNewest);
  };
  const write = (message) => {
    send(id, message);
    if (isCut(thread)) goToNewest(); // what is on its way stands behind the newest
  };
  return html`<section class="thread" aria-label=${title}>
    <header><${Back} /><h1 tabindex="-1"><bdi>${title}</bdi></h1><${Members} conversation=${thread.conversation} /></header>
    <${Messages} id=${id} thread=${thread} isAtEnd=${isAtEnd} changed=${changed} change=${setThread} goToNewest=${goToNewest} />
    <${Typing} thread=${thread} />
    <${Composer} conversation=${thread.conversation} title=${title} send=${write} />
  </section>`;
}

// Where somebody was erased, their newest messages are shown anew at once; older ones are rewritten behind them.
function useReadAgain(id, outdated, change) {
  useEffect(() => {
    const read = async ({ count: limit, lastMs }) => {
      const page = await chat.messages(id, { limit, beforeMs: lastMs + 1 });
      change((before) => withAnew(before, page));
    };
    const timer = setTimeout(() => outdated.forEach((page) => read(page).catch(() => {})), REWRITTEN_MS);
    return () => clearTimeout(timer);
  }, [outdated]);
}

const Back = () => html`<a class="back" href="/app/chat" aria-label=${say("chat.all")}>‹</a>`;

// What has not changed is not drawn anew. Two hundred messages, fifty times a second. (Giving Preact the very same vnode
// would do that too; but that one holds the list as it was first drawn in, and by it every message there has ever been.)
function Drawn(props) {
  this.shouldComponentUpdate = (next) => next.message !== this.props.message || next.isFirst !== this.props.isFirst;
  return h(Message, props);
}

function Messages({ id, thread, isAtEnd, changed, change, goToNewest }) {
  const box = useRef(null);
  const seen = useRef(thread.come);
  const [missed, setMissed] = useState(0);
  const last = thread.items.at(-1);
  const waiting = unsent.value[id] ?? [];
  const isReadOut = useReadOut(thread.come);
  const sayRead = useReadMark(id, last, isAtEnd);
  const allSeen = () => {
    seen.current = thread.come;
    setMissed(0);
  };
  useLayoutEffect(() => {
    if (isAtEnd.current) toEnd();
    else setMissed(thread.come - seen.current);
  }, [thread.come, last?.id, waiting.length]);
  const toEnd = () => {
    box.current.scrollTop = box.current.scrollHeight;
    allSeen();
  };
  const jump = () => {
    goToNewest();
    toEnd();
  };
  const scrolled = () => {
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    const isNear = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    isAtEnd.current = isNear && !isCut(thread);
    if (isNear && isCut(thread)) keepInSight(box.current, () => change(withTail));
    if (!isAtEnd.current) return;
    allSeen();
    sayRead();
  };
  return html`<div class="messages" role="log" aria-live=${isReadOut ? "polite" : "off"} aria-label=${say("chat.messages")} tabindex="0" ref=${box} onScroll=${scrolled}>
      ${thread.hasOlder && html`<${Older} id=${id} first=${thread.items[0]} change=${change} box=${box} />`}
      <ol>
        ${thread.items.map((message, n) => h(Drawn, { key: message.id, message, changed, isFirst: beginsBlock(message, thread.items[n - 1]) }))}
        ${waiting.map((entry) => html`<${Waiting} key=${entry.clientMessageId} id=${id} entry=${entry} />`)}
      </ol>
      ${thread.between.length > 0 && html`<${Newer} id=${id} thread=${thread} change=${change} box=${box} />`}
      ${thread.items.length === 0 && waiting.length === 0 && html`<p class="dim">${say("chat.nothingYet")}</p>`}
    </div>
    ${(missed > 0 || isCut(thread)) && html`<button type="button" class="jump" onClick=${jump}>${missed > 0 ? say("chat.new", { count: missed }) : say("chat.newest")}</button>`}`;
}

const beginsBlock = (message, before) => !before || before.senderId !== message.senderId || message.createdAtMs - before.createdAtMs > PAUSE_MS;

// What is in sight at the end is read: also where one comes to it later, or back to the tab, or the connection does.
function useReadMark(id, last, isAtEnd) {
  const said = useRef(null);
  const sayRead = () => {
    if (!last || last.id === said.current || !isAtEnd.current || document.hidden) return;
    said.current = last.id;
    partyline.live.read(`conversation:${id}`, last.id).catch(() => { if (said.current === last.id) said.current = null; });
  };
  useEffect(() => {
    sayRead();
    document.addEventListener("visibilitychange", sayRead);
    return () => document.removeEventListener("visibilitychange", sayRead);
  }, [last?.id, connection.value.state]);
  return sayRead;
}

function Older({ id, first, change, box }) {
  const load = useAction(async () => {
    const page = await chat.messages(id, { limit: PAGE, beforeMs: first.createdAtMs });
    keepInSight(box.current, () => change((before) => withOlder(before, page, first)));
  });
  return html`<${Further} load=${load} words=${say("chat.older")} />`;
}

function Newer({ id, thread, change, box }) {
  const load = useAction(async () => {
    const [{ count: limit, lastMs }] = thread.between;
    const asked = { last: thread.items.at(-1), limit };
    const page = await chat.messages(id, { limit, beforeMs: lastMs + 1 });
    keepInSight(box.current, () => change((before) => withNewer(before, page, asked)));
  });
  return html`<${Further} load=${load} words=${say("chat.newer")} />`;
}

function Further({ load, words }) {
  return html`<button type="button" class="older" disabled=${load.isRunning} onClick=${() => load.run()}>${words}</button>
    ${load.error && html`<${Fault} error=${load.error} retry=${() => load.run()} />`}`;
}

// What is in sight stays where it is, whatever is put or taken before it.
function keepInSight(box, change) {
  const top = box.getBoundingClientRect().top;
  const shown = [...box.querySelectorAll(".message")].find((one) => one.getBoundingClientRect().bottom > top);
  const before = shown?.getBoundingClientRect().top;
  change();
  requestAnimationFrame(() => { if (shown?.isConnected) box.scrollTop += shown.getBoundingClientRect().top - before; });
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
