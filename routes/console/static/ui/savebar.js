// The one way in which forms of settings are saved: a bar at the bottom, as soon as something has changed.
import { useEffect, useRef } from "preact/hooks";
import { html } from "../html.js";
import { say } from "../words.js";
import { isLegible, useAtField } from "./form.js";
import { Complaint } from "./states.js";
import { useUnsaved } from "./unsaved.js";

/**
 * @param {{isChanged: boolean, action: {run: Function, isRunning: boolean, error: Error|null}, onSave: () => unknown,
 *   onDiscard: () => unknown}} props
 */
export function SaveBar({ isChanged, action, onSave, onDiscard }) {
  useUnsaved(isChanged);
  const form = useRef(null);
  const trySaving = () => { if (isLegible(form.current)) onSave(); };
  useEffect(() => {
    if (!isChanged) return undefined;
    const save = (event) => {
      if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      trySaving();
    };
    addEventListener("keydown", save);
    return () => removeEventListener("keydown", save);
  }, [isChanged, onSave]);
  const wasChanged = useRef(false);
  useEffect(() => {
    // The button that had the focus is gone with the bar.
    if (wasChanged.current && !isChanged && document.activeElement === document.body) document.getElementById("main").focus();
    wasChanged.current = isChanged;
  }, [isChanged]);
  const isAtField = useAtField(action.error, form);
  if (!isChanged) return null;
  return html`<div class="savebar" ref=${(bar) => { form.current = bar?.parentElement; }} role="region" aria-label=${say("savebar.title")}>
    <p>${say("savebar.changed")}</p>
    ${action.error && !isAtField && html`<${Complaint} error=${action.error} />`}
    <button type="button" onClick=${onDiscard}>${say("action.discard")}</button>
    <button type="button" class="primary" disabled=${action.isRunning} onClick=${trySaving}>${say("action.save")}</button>
  </div>`;
}
