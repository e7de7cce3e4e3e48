// One totem, from all sides.
import { useEffect, useState } from "preact/hooks";
import { totems as api } from "../../api.js";
import { html } from "../../html.js";
import { setQuery } from "../../router.js";
import { useRead } from "../../store.js";
import { ModelView } from "../../ui/model-view.js";
import { State } from "../../ui/states.js";
import { say } from "../../words.js";
import { drawn } from "./models.js";

/** @param {{id: string, isChosen: boolean}} props `isChosen` where it is another than the one that is carried. */
export function Look({ id, isChosen }) {
  const read = useRead((signal) => api.model(id, signal), [id]);
  return html`<${State} of=${read}>${(totem) => html`<div class="banner plain">
    ${isChosen && html`<button type="button" class="quiet" aria-label=${say("action.dismiss")} onClick=${() => setQuery({ look: null })}>×</button>`}
    <${Model} model=${totem.itemModel} label=${say("totem.picture", { name: totem.fileName || say("totem.unnamed") })} />
    ${totem.author.description && html`<p dir="auto" class="text">${totem.author.description}</p>`}</div>`}<//>`;
}

/** @param {{model: any, label: string}} props `model` as decoded from JSON. */
export function Model({ model, label }) {
  const [shown, show] = useState(null);
  useEffect(() => {
    let isGone = false;
    drawn(model).then((made) => { if (!isGone) show(made); }, () => { if (!isGone) show({ faces: [], images: {} }); });
    return () => { isGone = true; };
  }, [model]);
  if (!shown) return null;
  if (shown.faces.length === 0) return html`<p class="dim">${say("totem.notDrawn")}</p>`;
  return html`<${ModelView} ...${shown} label=${label} />`;
}
