// Fields with their labels, and with what the service says about each by its pointer.
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.js";
import { Complaint } from "./states.js";
import { useUnsaved } from "./unsaved.js";

/**
 * A form that sends once at a time, and puts the focus on the first field that is refused. Longer texts that were written
 * and not sent are asked about before the page is left.
 *
 * @param {{action: {run: Function, isRunning: boolean, error: Error|null}, onSubmit: () => unknown, children: any,
 *   label?: string}} props
 */
export function Form({ action, onSubmit, children, label }) {
  const form = useRef(null);
  const isAtField = useAtField(action.error, form);
  const [isWritten, setWritten] = useState(false);
  useUnsaved(isWritten, action.isRunning);
  const wasRunning = useRef(false);
  // With what is shown, not after the next frame: whoever sees that it is sent is not asked any more.
  useLayoutEffect(() => {
    if (wasRunning.current && !action.isRunning && !action.error) setWritten(false);
    wasRunning.current = action.isRunning;
  }, [action.isRunning]);
  const written = ({ target }) => { if (target.localName === "textarea") setWritten(target.value.trim() !== ""); };
  const submit = (event) => {
    event.preventDefault();
    if (isLegible(form.current)) onSubmit();
  };
  return html`<form class="form" ref=${form} aria-label=${label} aria-busy=${action.isRunning} onInput=${written} onSubmit=${submit} novalidate>
    ${children}
    ${action.error && !isAtField && html`<${Complaint} error=${action.error} />`}
  </form>`;
}

/** Put the focus on the first field that is refused. Whether there is one: what no field says is said with the button. */
export function useAtField(error, box) {
  const [isAtField, setAtField] = useState(false);
  useLayoutEffect(() => {
    const field = error && box.current?.querySelector("[aria-invalid=true]");
    field?.focus();
    setAtField(Boolean(field));
  }, [error]);
  return isAtField;
}

/**
 * Whether a browser can read all that is typed in a form. A number or a moment that is begun reaches us as an empty field,
 * which means something else: the browser says at the field what is wrong with it.
 *
 * @param {Element} box
 */
export const isLegible = (box) => [...box.querySelectorAll("input")].every((one) => !one.validity.badInput || one.reportValidity());

/**
 * A labelled control.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} [props.hint]
 * @param {Error|null} [props.error] of the action; the message for `pointer` is shown, or for a part of it.
 * @param {string} [props.pointer] of the field in the body, such as `/title`.
 * @param {"text"|"password"|"search"|"number"|"url"|"area"|"select"|"switch"|"file"|"datetime-local"} [props.kind]
 * @param {any} props.value
 * @param {(value: any) => void} props.onInput
 * @param {Array<[string, string]>} [props.options] of a select: value and words.
 */
export function Field({ label, hint, error, pointer, kind = "text", value, onInput, options = [], ...rest }) {
  const id = useId();
  const complaint = pointer && error?.errors?.find((one) => `${one.pointer}/`.startsWith(`${pointer}/`))?.message;
  const shared = {
    id,
    "aria-describedby": [hint && `${id}-hint`, complaint && `${id}-complaint`].filter(Boolean).join(" ") || null,
    "aria-invalid": complaint ? "true" : null,
    ...rest,
  };
  return html`<div class=${kind === "switch" ? "field switch" : "field"}>
    <label for=${id} dir="auto">${label}</label>
    ${control(kind, shared, value, onInput, options)}
    ${hint && html`<p class="dim" dir="auto" id=${`${id}-hint`}>${hint}</p>`}
    ${complaint && html`<p class="bad" dir="auto" id=${`${id}-complaint`}>${complaint}</p>`}
  </div>`;
}

function control(kind, shared, value, onInput, options) {
  const typed = (event) => onInput(event.currentTarget.value);
  if (kind === "area") return html`<textarea ...${shared} value=${value} onInput=${typed}></textarea>`;
  if (kind === "switch") {
    return html`<input type="checkbox" role="switch" ...${shared} checked=${value} onChange=${(event) => onInput(event.currentTarget.checked)} />`;
  }
  if (kind === "select") {
    return html`<select ...${shared} value=${value} onChange=${typed}>
      ${options.map(([one, words]) => html`<option value=${one} selected=${one === value}>${words}</option>`)}
    </select>`;
  }
  if (kind === "file") return html`<input type="file" ...${shared} onChange=${(event) => onInput(event.currentTarget.files[0] ?? null)} />`;
  return html`<input type=${kind} autocomplete="off" ...${shared} value=${value} onInput=${typed} />`;
}

/** The button that sends a form. */
export const Submit = ({ action, children, ...rest }) =>
  html`<button class="primary" disabled=${action.isRunning} ...${rest}>${children}</button>`;
