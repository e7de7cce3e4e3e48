// The same command to several servers: a line a server, each with its own end, whatever becomes of the others.
import { useEffect } from "preact/hooks";
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useChannel, useShared } from "../../live.js";
import { me } from "../../session.js";
import { useAction } from "../../store.js";
import { ofRow } from "../../ui/row.js";
import { Complaint } from "../../ui/states.js";
import { say } from "../../words.js";
import { CommandLine, requestOf } from "./command-line.js";

const MOST = 20;

/** The capability that sending needs, on each server. */
export const NEEDED = "server.commands.write";


/** Which other servers get it too. @param {{server: any, chosen: any[], choose: (servers: any[]) => void}} props */
export function Targets({ server, chosen, choose }) {
  const others = (useShared("servers").data?.items ?? []).filter((one) => one.serverId !== server.serverId && one.access.capabilities.includes(NEEDED));
  if (others.length === 0) return null;
  const isChosen = ({ serverId }) => chosen.some((one) => one.serverId === serverId);
  const toggle = (one) => choose(isChosen(one) ? chosen.filter(({ serverId }) => serverId !== one.serverId) : [...chosen, one]);
  const isFull = chosen.length >= MOST;
  return html`<details><summary>${say("elsewhere.choose", { count: chosen.length })}</summary><fieldset><legend class="hidden">${say("elsewhere.also")}</legend>
    ${others.map((one) => html`<label key=${one.serverId} class="person"><input type="checkbox" checked=${isChosen(one)} disabled=${isFull && !isChosen(one)} onChange=${() => toggle(one)} /> <bdi>${one.name}</bdi></label>`)}
    ${isFull && html`<p class="dim">${say("elsewhere.most", { count: MOST })}</p>`}
    <div class="buttons start"><button type="button" onClick=${() => choose(others.slice(0, MOST))}>${say("elsewhere.all")}</button>
      <button type="button" disabled=${chosen.length === 0} onClick=${() => choose([])}>${say("elsewhere.none")}</button></div></fieldset></details>`;
}

/**
 * What came of it elsewhere.
 *
 * @param {{sendings: any[], change: (update: (sendings: any[]) => any[]) => void}} props `sendings` are
 *   {key, server, name, request, command, error}; `command` is null until the service has taken it.
 */
export function Elsewhere({ sendings, change }) {
  if (sendings.length === 0) return null;
  const finished = sendings.filter(({ command }) => command?.finishedAt);
  const succeeded = finished.filter(({ command }) => command.status === "success").length;
  const failed = finished.length - succeeded + sendings.filter(({ error }) => error).length;
  const put = (key, values) => change((before) => before.map((one) => (one.key === key ? { ...one, ...values } : one)));
  const open = sendings.filter(({ command }) => command && !command.finishedAt);
  const idsOn = (server) => open.filter((one) => one.server === server).map(({ command }) => command.id).sort().join();
  return html`<section aria-labelledby="elsewhere"><header class="row"><h2 id="elsewhere">${say("elsewhere.title")}</h2>
      <button type="button" class="quiet" onClick=${() => change(() => [])}>${say("elsewhere.clear")}</button></header>
    <p role="status">${say("elsewhere.sum", { succeeded, failed, waiting: sendings.length - succeeded - failed })}</p>
    <ol class="cards">${sendings.map((sending) => html`<${Sending} key=${sending.key} sending=${sending} put=${(values) => put(sending.key, values)} />`)}</ol>
    ${[...new Set(open.map(({ server }) => server))].map((server) => html`<${Watched} key=${`${server} ${idsOn(server)}`} server=${server} change=${change} />`)}</section>`;
}

// A channel tells one at a time: one for each server, however many of its commands are open, and anew when one more is.
function Watched({ server, change }) {
  const put = (commands) => change((before) => before.map((one) => ({ ...one, command: newest(one.command, commands) })));
  // A snapshot tells what the server is, and not its commands: what has become of them meanwhile is read.
  const reread = async () => put((await api.commands(server, { limit: 50 })).items);
  useChannel(`server:${server}`, (frames) => {
    put(frames.filter(({ event }) => event === "command").map(({ data }) => data));
    if (frames.some(({ type }) => type === "snapshot")) reread().catch(() => {});
  }, { mode: "delta" });
  return null;
}

const newest = (command, others) => others.reduce((known, one) => (known?.id === one.id && known.version < one.version ? one : known), command);

function Sending({ sending: { server, name, request, command, error }, put }) {
  const send = useAction(async (again) => {
    put({ command: null, error: null });
    try {
      put({ command: (await (again ?? (() => api.send(server, request)))()).command });
    } catch (refused) {
      put({ error: refused });
    }
  });
  useEffect(() => { if (!command && !error) send.run(); }, []);
  if (command) return html`<${CommandLine} command=${command} server=${name} by=${me.value.name} cancel=${() => api.cancel(server, command.id)} repeat=${() => send.run(() => api.send(server, requestOf(command)))} />`;
  // Where nobody knows whether it happened, the very same request is made again, so that it happens once.
  return html`<li><div class="grow"><p><bdi>${name}</bdi> <code>${request.action}</code> ${error ? html`<span class="chip bad">${say("elsewhere.refused")}</span>` : html`<span class="dim">${say("chat.sending")}</span>`}</p>${error && html`<${Complaint} error=${error} />`}</div>
    ${error && html`<button type="button" disabled=${send.isRunning} onClick=${() => send.run(error.isOutcomeUnknown ? error.again : undefined)} ...${ofRow("action.retry", name)} />`}</li>`;
}
