// One command: what it is, how far it is, what came of it; it can be cancelled while it is open, and sent again.
import { html } from "../../html.js";
import { useAction } from "../../store.js";
import { duration } from "../../ui/amounts.js";
import { Id } from "../../ui/chip.js";
import { ofRow } from "../../ui/row.js";
import { Complaint } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say, sayOf } from "../../words.js";

const TONES = { success: "good", failed: "bad", rejected: "bad", expired: "warn", cancelled: "plain" };

/**
 * @param {{command: any, server?: string, by: string|null, cancel: () => Promise<any>, repeat: () => unknown}} props
 *   `server` is the name of the server, where commands of several stand below each other; `by` that of whoever has sent it,
 *   null where nobody here knows it.
 */
export function CommandLine({ command, server, by, cancel, repeat }) {
  const act = useAction((choose) => choose());
  const isOpen = command.finishedAt === null;
  return html`<li><div class="grow"><p>${server && html`<bdi>${server}</bdi> `}<code>${command.action}</code> <span class=${`chip ${TONES[command.status] ?? "warn"}`}>${sayOf("commands", command.status)}</span>
      ${isOpen && command.progress !== null && html` <progress max="100" value=${command.progress} aria-label=${say("commands.progress")}></progress>`}</p>
    <p class="dim">${by === null ? html`<${Id} id=${command.createdBy} what=${say("commands.by")} />` : html`<bdi>${by}</bdi>`} · <${When} at=${command.createdAt} />${!isOpen && html` · ${say("commands.took", { time: duration(Date.parse(command.finishedAt) - Date.parse(command.createdAt)) })}`}</p>
    ${command.error && html`<p class="bad" dir="auto">${command.error}</p>`}
    ${hasContent(command.payload) && html`<details><summary ...${ofRow("commands.payload", command.action)} /><pre tabindex="0">${JSON.stringify(command.payload, null, 2)}</pre></details>`}
    ${command.result !== null && html`<details><summary ...${ofRow("commands.result", command.action)} /><pre tabindex="0">${JSON.stringify(command.result, null, 2)}</pre></details>`}
    <${Complaint} error=${act.error} /></div>
    ${isOpen ? html`<button type="button" disabled=${act.isRunning} onClick=${() => act.run(cancel)} ...${ofRow("action.cancel", command.action)} />`
      : html`<button type="button" disabled=${act.isRunning} onClick=${({ detail }) => detail > 1 || act.run(repeat)} ...${ofRow("commands.repeat", command.action)} />`}</li>`;
}

const hasContent = (payload) => payload !== null && Object.keys(payload).length > 0;

/** Commands, newest first, with one that is new or has changed; an older version of it changes nothing. */
export function withCommand(items, command) {
  const at = items.findIndex((one) => one.id === command.id);
  if (at < 0) return [command, ...items];
  return items[at].version > command.version ? items : items.with(at, command);
}

/** What sends a command once more, to whichever server. */
export const requestOf = ({ action, payload, extensionId }) => ({ action, payload: payload ?? {}, ...(extensionId && { extensionId }) });
