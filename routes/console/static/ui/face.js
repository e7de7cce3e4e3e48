// A person or thing as a coloured initial; the colour follows from the id.
import { html } from "../html.js";

const hueOf = (text) => ([...text].reduce((sum, sign) => (Math.imul(sum, 31) + sign.codePointAt(0)) >>> 0, 7) * 137.508) % 360;

/** @param {{id: string, name: string, isOnline?: boolean|null}} props `isOnline` null or absent shows no dot. */
export function Face({ id, name, isOnline = null }) {
  const initial = (/[^\s\u2068]/u.exec(name ?? "")?.[0] ?? "?").toUpperCase(); // none that only isolates
  const className = isOnline === null ? "face" : `face ${isOnline ? "online" : "offline"}`;
  return html`<span class=${className} aria-hidden="true" style=${{ "--face": hueOf(id) }}>${initial}</span>`;
}

/** A name that somebody has chosen: isolated, so that its direction changes nothing around it. */
export const Name = ({ children }) => html`<bdi class="name" title=${children}>${children}</bdi>`;
