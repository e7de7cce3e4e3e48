// An attached file. Pictures that browsers draw safely are shown; everything else is saved, never opened.
import { useEffect, useState } from "preact/hooks";
import { chat } from "../../api.js";
import { html } from "../../html.js";
import { useAction } from "../../store.js";
import { Complaint } from "../../ui/states.js";
import { bytes, say } from "../../words.js";

const SHOWN = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);

/** @param {{attachment: {id: string, fileName: string, contentType: string, sizeBytes: number, url: string}}} props */
export function Attachment({ attachment: { fileName, contentType, sizeBytes, url } }) {
  const [source, setSource] = useState(null);
  const save = useAction(async () => {
    const address = await load(url);
    const link = Object.assign(document.createElement("a"), { href: address, download: fileName });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  });
  useEffect(() => {
    if (!SHOWN.has(contentType)) return undefined;
    let address = null;
    let isGone = false;
    load(url).then((loaded) => {
      address = loaded;
      if (isGone) URL.revokeObjectURL(address);
      else setSource(address);
    }, () => {});
    return () => {
      isGone = true;
      if (address) URL.revokeObjectURL(address);
    };
  }, [url]);
  return html`<figure class="attachment">
    ${source && html`<img src=${source} alt=${fileName} loading="lazy" />`}
    <figcaption><bdi>${fileName}</bdi> <span class="dim">${bytes(sizeBytes)}</span>
      <button type="button" class="link" disabled=${save.isRunning} onClick=${save.run}>${say("action.download")}</button></figcaption>
    ${save.error && html`<${Complaint} error=${save.error} />`}
  </figure>`;
}

// The bytes want a credential, so an address alone does not do.
async function load(url) {
  const response = await chat.bytes(new URL(url, location.origin).pathname);
  return URL.createObjectURL(await response.blob());
}
