// Questions that must be answered before something happens: what it does, to whom, and whether it can be undone.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.js";
import { say } from "../words.js";
import { copyText } from "./chip.js";
import { Modal } from "./modal.js";

const asked = signal(null);
let nextKey = 1;

/**
 * Ask before something that others will see, or that cannot be undone.
 *
 * @param {{title: string, text: any, confirm: string, typed?: string, isDanger?: boolean}} question `typed` must be
 *   typed first: the name of what will be gone for good.
 * @returns {Promise<boolean>}
 */
export function ask(question) {
  asked.value?.answer(false);
  return new Promise((resolve) => {
    asked.value = { ...question, key: nextKey++, answer: (value) => { asked.value = null; resolve(value); } };
  });
}

/** Show a secret that is shown once; resolves when it is kept. */
export function showSecret({ title, text, secret }) {
  return ask({ title, text, secret, confirm: say("secret.kept") });
}

/** The question that is being asked, if there is one. */
export function Dialogs() {
  useEffect(() => () => asked.value?.answer(false), []);
  const question = asked.value;
  return question && html`<${Question} key=${question.key} question=${question} />`;
}

function Question({ question }) {
  const [typed, setTyped] = useState("");
  const { answer } = question;
  const isReady = question.typed === undefined || typed === question.typed;
  return html`<${Modal} aria-labelledby="dialog-title" cancel=${() => { if (!question.secret) answer(false); }}>
    <form method="dialog" onSubmit=${(event) => { event.preventDefault(); if (isReady) answer(true); }}>
      <h2 id="dialog-title">${question.title}</h2>
      <div>${question.text}</div>
      ${question.secret && html`<${Secret} secret=${question.secret} />`}
      ${question.typed !== undefined && html`<label class="field">${say("dialog.type", { name: question.typed })}
        <input value=${typed} autocomplete="off" spellcheck=${false} onInput=${(event) => setTyped(event.currentTarget.value)} /></label>`}
      <div class="buttons">
        ${!question.secret && html`<button type="button" autofocus onClick=${() => answer(false)}>${say("action.cancel")}</button>`}
        <button class=${question.isDanger ? "danger" : "primary"} disabled=${!isReady}>${question.confirm}</button>
      </div>
    </form>
  <//>`;
}

function Secret({ secret }) {
  const field = useRef(null);
  const copy = async () => {
    if (!(await copyText(secret))) field.current.select();
  };
  return html`<div class="secret"><input ref=${field} readonly value=${secret} aria-label=${say("secret.label")} />
    <button type="button" autofocus onClick=${copy}>${say("action.copy")}</button></div>`;
}
