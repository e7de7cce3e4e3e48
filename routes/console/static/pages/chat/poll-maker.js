// Asking the others in a thread: a question and two to ten options.
import { useState } from "preact/hooks";
import { html } from "../../html.js";
import { say } from "../../words.js";

const MOST_OPTIONS = 10;

/** @param {{send: (poll: {question: string, options: {label: string}[], multiple: boolean}) => void}} props */
export function PollMaker({ send }) {
  const [question, setQuestion] = useState("");
  const [labels, setLabels] = useState(["", ""]);
  const [multiple, setMultiple] = useState(false);
  const given = labels.map((label) => label.trim()).filter(Boolean);
  const isReady = question.trim() && given.length >= 2 && new Set(given).size === given.length;
  const change = (at, label) => setLabels(labels.map((one, n) => (n === at ? label : one)));
  return html`<fieldset class="pollmaker"><legend>${say("poll.make")}</legend>
    <label class="field">${say("poll.question")}<input value=${question} maxlength="300" onInput=${(event) => setQuestion(event.currentTarget.value)} /></label>
    ${labels.map((label, at) => html`<label key=${at} class="field">${say("poll.option", { number: at + 1 })}
      <input value=${label} maxlength="100" onInput=${(event) => change(at, event.currentTarget.value)} /></label>`)}
    <label class="person"><input type="checkbox" role="switch" checked=${multiple} onChange=${(event) => setMultiple(event.currentTarget.checked)} /> ${say("poll.multiple")}</label>
    <div class="buttons">
      ${labels.length < MOST_OPTIONS && html`<button type="button" onClick=${() => setLabels([...labels, ""])}>${say("poll.addOption")}</button>`}
      <button type="button" class="primary" disabled=${!isReady} onClick=${() => send({ question: question.trim(), options: given.map((label) => ({ label })), multiple })}>${say("poll.send")}</button>
    </div>
  </fieldset>`;
}
