// Where one writes. What is typed belongs to its thread, and is there again after another thread was open.
import { useEffect, useRef, useState } from "preact/hooks";
import { chat } from "../../api.js";
import { html } from "../../html.js";
import { partyline } from "../../session.js";
import { useAction } from "../../store.js";
import { base64Of } from "../../ui/base64.js";
import { Complaint } from "../../ui/states.js";
import { say } from "../../words.js";

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
  useEffect(() => {
    setText(drafts.get(conversation.id) ?? "");
    setPolls(null);
  }, [conversation.id]);
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
  const submit = () => {
    if (!text.trim()) return;
    send(messageOf(text, conversation.participants));
    keep("");
    saidTypingMs.current = 0;
    field.current.focus();
  };
  const poll = useAction(async () => setPolls(polls ? null : await import("./poll-maker.js")));
  const attach = useAction(async (file) => {
    if (file.size > MOST_BYTES) throw new Error(say("chat.tooLarge"));
    keep(""); // what is written while the file goes up is not of this message
    try {
      const dataBase64 = await base64Of(file);
      const made = await chat.attach(conversation.id, { fileName: file.name, contentType: file.type || "application/octet-stream", dataBase64 });
      send({ ...messageOf(text, conversation.participants), attachmentIds: [made.id] });
    } catch (error) {
      keep([text, drafts.get(conversation.id)].filter(Boolean).join("\n"));
      throw error;
    }
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
    ${attach.isRunning && html`<p class="dim" role="status">${say("chat.sending")}</p>`}
    <${Complaint} error=${attach.error ?? poll.error} />
    ${polls && html`<${polls.PollMaker} send=${(made) => { send({ poll: made }); setPolls(null); }} />`}
  </form>`;
}

// `@Name` of somebody in the thread becomes a mention; the longest name that fits wins.
function messageOf(text, participants) {
  const people = participants.toSorted((one, other) => other.name.length - one.name.length);
  const tokenOf = ({ id }) => `<@user:${id}>`;
  // Each place once: somebody may be called like a part of what the mention of another becomes.
  const known = new RegExp(people.map(({ name }) => `@${name.replace(/\W/g, "\\$&")}`).join("|") || "(?!)", "g");
  const content = text.trim().replace(known, (found) => tokenOf(people.find(({ name }) => found === `@${name}`)));
  const mentions = people.filter((person) => content.includes(tokenOf(person))).map(({ id, name }) => ({ kind: "user", id, label: name }));
  return { content, ...(mentions.length && { mentions }) };
}
