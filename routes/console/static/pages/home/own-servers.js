// One's own game servers that want a look: those that are down, and commands that have failed lately.
import { servers as api } from "../../api.js";
import { html } from "../../html.js";
import { serverNowMs } from "../../live.js";
import { may } from "../../session.js";
import { useRead } from "../../store.js";
import { Fault } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { say } from "../../words.js";

const ASKED = 10;
const LATELY_MS = 24 * 3_600_000;

/** @param {{servers: any[]}} props as the channel `servers` has them. */
export function OwnServers({ servers }) {
  const down = servers.filter((server) => !server.status.online && server.status.updatedAt && !server.isTemplate);
  const asked = may("connect:commands:read") ? servers.filter((server) => server.access.capabilities.includes("server.commands.read")).slice(0, ASKED) : [];
  const failed = useRead((signal) => failedOf(asked, signal), [asked.map((server) => server.serverId).join()]);
  if (failed.error) return html`<${Fault} error=${failed.error} retry=${failed.reload} />`;
  if (down.length + (failed.data?.length ?? 0) === 0) return null;
  return html`<section aria-labelledby="home-servers"><h2 id="home-servers">${say("home.servers")}</h2><ul class="cards">
    ${down.map((server) => html`<li key=${server.serverId}><div class="grow"><a href=${`/app/servers/${server.serverId}`}><bdi>${server.name}</bdi></a><p class="dim">${say("server.seen")} <${When} at=${server.status.updatedAt} /></p></div><span class="chip bad">${say("server.offline")}</span></li>`)}
    ${failed.data?.map(({ server, command }) => html`<li key=${command.id}><div class="grow"><a href=${`/app/servers/${server.serverId}/console`}><bdi>${server.name}</bdi></a> <code>${command.action}</code>
      <p class="bad" dir="auto">${command.error}</p><p class="dim"><${When} at=${command.finishedAt} /></p></div><span class="chip bad">${say("commands.failed")}</span></li>`)}</ul></section>`;
}

async function failedOf(servers, signal) {
  const pages = await Promise.all(servers.map((server) => api.commands(server.serverId, { status: "failed", limit: 3 }, signal).then(({ items }) => items.map((command) => ({ server, command })))));
  return pages.flat().filter(({ command }) => serverNowMs() - Date.parse(command.finishedAt) < LATELY_MS);
}
