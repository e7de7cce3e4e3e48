// A game server's console: send a command, here and to other servers, and see what becomes of it as it happens.
import { useEffect, useRef, useState } from "preact/hooks";
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { useAnew, useTold } from "../../live.js";
import { me } from "../../session.js";
import { useList, useRead } from "../../store.js";
import { useOnce } from "../../ui/once.js";
import { Empty, More, State } from "../../ui/states.js";
import { say } from "../../words.js";
import { CommandForm } from "./command-form.js";
import { CommandLine, requestOf, withCommand } from "./command-line.js";
import { Elsewhere, Targets } from "./elsewhere.js";
import { lacks } from "./missing.js";

const MOST_SENDINGS = 100;

/** @param {{server: any, told: any[]}} props `told` are frames of the server's channel. */
export function Commands({ server, told }) {
  const list = useList((query, signal) => api.commands(server.serverId, { limit: 50, ...query }, signal), [server.serverId]);
  const nameOf = useNames(server, told);
  const [chosen, choose] = useState([]);
  const [sendings, setSendings] = useState([]);
  const nextKey = useRef(1);
  const put = (command) => list.change((before) => ({ ...before, items: withCommand(before.items, command) }));
  useEffect(() => {
    for (const frame of told) if (frame.event === "command") put(frame.data);
  }, [told]);
  useAnew(told, list.reload);
  const sendOnce = useOnce(({ to, request }) => api.send(to, request));
  const sendHere = async (request) => put((await sendOnce({ to: server.serverId, request })).command);
  const send = async (request) => {
    // What this server refuses is a fault of the form; the others have lines of their own.
    await sendHere(request);
    const made = chosen.map(({ serverId, name }) => ({ key: nextKey.current++, server: serverId, name, request, command: null, error: null }));
    setSendings((before) => [...made, ...before].slice(0, MOST_SENDINGS));
  };
  return html`<section aria-label=${say("server.console")} class="console">
    <${CommandForm} server=${server} send=${send} sent=${list.items ?? []}><${Targets} server=${server} chosen=${chosen} choose=${choose} /><//>
    <${Elsewhere} sendings=${sendings} change=${setSendings} />
    <section aria-labelledby="commands-here"><h2 id="commands-here">${say("commands.here")}</h2><${State} of=${list}>${() => list.items.length === 0 ? html`<${Empty}>${say("commands.none")}<//>`
      : html`<ol class="cards">${list.items.map((command) => html`<${CommandLine} key=${command.id} command=${command} by=${nameOf(command.createdBy)} cancel=${() => api.cancel(server.serverId, command.id)} repeat=${() => sendHere(requestOf(command))} />`)}</ol>
        <${More} of=${list} />`}<//></section>
  </section>`;
}

// Who has sent what: commands say ids, and those who belong to the server have names.
function useNames(server, told) {
  const read = useRead((signal) => (lacks(server, "server.members.read") ? Promise.resolve({ items: [] }) : api.members(server.serverId, signal)), [server.serverId]);
  const members = useTold(told, "members") ?? read.data?.items ?? [];
  return (userId) => (userId === me.value.id ? me.value.name : members.find((member) => member.userId === userId)?.name ?? null);
}
