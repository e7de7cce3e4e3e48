// Where one writes. What is typed belongs to its thread, and is there again after another thread was open.
import { useRef, useState } from "preact/hooks";
import { chat } from "../../api.js";
import { html } from "../../html.js";
import { partyline } from "../../session.js";
import { useAction } from "../../store.js";
import { base64Of } from "../../ui/base64.js";
import { Complaint } from "../../ui/states.js";
import { say } from "../../words.js";
import { isKnown, mentionable, messageOf } from "./mentioning.js";

const drafts = new Map(); // {conversation: text}
const TYPING_EVERY_MS = 3_000;
const MOST_BYTES = 8 * 1024 * 1024;

/**
 * @param {{conversation: any, title: string, send: (message: any) => void}} props `send` shows the message at once and sees
 *   that it arrives.
 */
export function Composer({ conversation, title, send }) {
  const channel = `conversation:${conversation.id}`;
  const [text, setText] = useState(drafts.get(conversation.id) ?? "");
  const [polls, setPolls] = useState(null); // what makes one, once somebody has asked for it
  const field = useRef(null);
  const saidTypingMs = useRef(0);
  const keep = (value) => {
    setText(value);
    if (value) drafts.set(conversation.id, value);
    else drafts.delete(conversation.id);
  };
  const type = (value) => {
    keep(value);
    if (Date.now() - saidTypingMs.current < TYPING_EVERY_MS || !value) return;
    saidTypingMs.current = Date.now();
    partyline.live.typing(channel);
  };
  // What is written meanwhile is of another message; where this one cannot be made, its text comes back.
  const sendOnce = async (make) => {
    keep("");
    try {
      send(await make());
    } catch (error) {
      keep([text, drafts.get(conversation.id)].filter(Boolean).join("\n"));
      throw error;
    }
  };
  const call = useAction(() => sendOnce(async () => messageOf(text, await mentionable(text, conversation))));
  const submit = () => {
    if (!text.trim()) return;
    if (isKnown(text, conversation)) {
      send(messageOf(text, conversation.participants));
      keep("");
    } else call.run();
    saidTypingMs.current = 0;
    field.current.focus();
  };
  const poll = useAction(async () => setPolls(polls ? null : await import("./poll-maker.js")));
  const attach = useAction(async (file) => {
    if (file.size > MOST_BYTES) throw new Error(say("chat.tooLarge"));
    await sendOnce(async () => {
      const dataBase64 = await base64Of(file);
      const made = await chat.attach(conversation.id, { fileName: file.name, contentType: file.type || "application/octet-stream", dataBase64 });
      return { ...messageOf(text, await mentionable(text, conversation)), attachmentIds: [made.id] };
    });
  });
  const key = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  };
  return html`<form class="composer" onSubmit=${(event) => { event.preventDefault(); submit(); }}>
    <label class="button" title=${say("chat.attach")}><span aria-hidden="true">+</span><span class="hidden">${say("chat.attach")}</span>
      <input type="file" class="hidden" disabled=${attach.isRunning} onChange=${(event) => { const [file] = event.currentTarget.files; event.currentTarget.value = ""; if (file) attach.run(file); }} /></label>
    <button type="button" aria-pressed=${polls !== null} onClick=${() => poll.run()}>${say("poll.make")}</button>
    <textarea ref=${field} rows="1" dir="auto" aria-label=${say("chat.messageTo", { title })} placeholder=${say("chat.messageTo", { title })} maxlength="4000"
      value=${text} onInput=${(event) => type(event.currentTarget.value)} onKeyDown=${key}></textarea>
    <button class="primary">${say("action.send")}</button>
    ${(attach.isRunning || call.isRunning) && html`<p class="dim" role="status">${say("chat.sending")}</p>`}
    <${Complaint} error=${attach.error ?? call.error ?? poll.error} />
    ${polls && html`<${polls.PollMaker} send=${(made) => { send({ poll: made }); setPolls(null); }} />`}
  </form>`;
}
