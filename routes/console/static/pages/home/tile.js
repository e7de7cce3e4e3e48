// How many of something wait, and where.
import { html } from "../../html.js";

/** @param {{href: string, title: string, count: number, children: any}} props */
export const Tile = ({ href, title, count, children }) => html`<a class="tile" href=${href}><h2>${title}</h2><p class="count">${count}</p><ul>${children}</ul></a>`;
