// What somebody may not do on a game server is shown all the same, disabled, with the right that is missing.
import { html } from "../../html.js";
import { say } from "../../words.js";

/** Whether somebody is known to lack a capability; the service decides, and may know more. */
export const lacks = (server, capability) => Boolean(server.access) && !server.access.capabilities.includes(capability);

/** What is said where it is missing, also of a button that is disabled for that; null where it is not. */
export const missing = (server, capability) => (lacks(server, capability) ? say("server.missing", { right: say(`capability.${capability}`) }) : null);

/** @param {{server: any, capability: string}} props */
export const Missing = ({ server, capability }) => lacks(server, capability) && html`<p class="dim" role="status">${missing(server, capability)}</p>`;
