// A picture that may be shown to its viewer alone: fetched with their credential, and shown from memory.
import { useLayoutEffect, useState } from "preact/hooks";
import { bytes } from "../api.js";
import { html } from "../html.js";

/**
 * @param {{url: string, alt: string, width?: number, height?: number, class?: string}} props `url` of this service; only
 *   its path and query are used.
 */
export function Picture({ url, ...rest }) {
  const [source, setSource] = useState(null);
  // A layout effect is undone at once, others a frame later: a page that the browser keeps aside gets no other frame.
  useLayoutEffect(() => {
    const aborting = new AbortController();
    let address = null;
    load(url, aborting.signal).then((loaded) => {
      address = loaded;
      if (aborting.signal.aborted) URL.revokeObjectURL(loaded);
      else setSource(loaded);
    }, () => {});
    return () => {
      aborting.abort();
      if (address) URL.revokeObjectURL(address);
    };
  }, [url]);
  return html`<img ...${rest} src=${source} hidden=${source === null} />`;
}

/**
 * The content of an address of this service as a `blob:` address, for pictures and downloads; revoke it when it is no
 * longer needed.
 */
export async function load(url, signal) {
  const { pathname, search } = new URL(url, location.origin);
  const response = await bytes(pathname + search, signal);
  const content = await response.blob();
  signal?.throwIfAborted();
  return URL.createObjectURL(content);
}
