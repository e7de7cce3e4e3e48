// An attached file. Pictures that browsers draw safely are shown; everything else is saved, never opened.
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../../html.js";
import { useAction } from "../../store.js";
import { Picture, load } from "../../ui/picture.js";
import { Complaint } from "../../ui/states.js";
import { bytes, say } from "../../words.js";

const SHOWN = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);

/** @param {{attachment: {id: string, fileName: string, contentType: string, sizeBytes: number, url: string}}} props */
export function Attachment({ attachment: { id, fileName, contentType, sizeBytes, url } }) {
  const saved = useRef([]); // Browsers read on from such an address after the click: it is kept as long as the message.
  useLayoutEffect(() => () => saved.current.forEach((address) => URL.revokeObjectURL(address)), []);
  const save = useAction(async () => {
    const address = await load(url);
    saved.current.push(address);
    Object.assign(document.createElement("a"), { href: address, download: fileName }).click();
  });
  return html`<figure class="attachment">
    ${SHOWN.has(contentType) && html`<${Picture} url=${url} alt=${fileName} />`}
    <figcaption><bdi id=${id}>${fileName}</bdi> <span class="dim">${bytes(sizeBytes)}</span>
      <button type="button" class="link" aria-describedby=${id} disabled=${save.isRunning} onClick=${save.run}>${say("action.download")}</button></figcaption>
    ${save.error && html`<${Complaint} error=${save.error} />`}
  </figure>`;
}
