// What belongs to a network: its game servers, and the hosts that run some for it.
import { networks as api } from "../../api.js";
import { html } from "../../html.js";
import { useShared } from "../../live.js";
import { useAction, useRead } from "../../store.js";
import { duration } from "../../ui/amounts.js";
import { showSecret } from "../../ui/dialog.js";
import { Complaint, Empty, Fault, Loading, State } from "../../ui/states.js";
import { When } from "../../ui/when.js";
import { number, say } from "../../words.js";

/** @param {{network: any}} props */
export const Machines = ({ network }) => html`<${Servers} network=${network} /><${Hosts} network=${network} />`;

function Servers({ network }) {
  const { data, error } = useShared("servers");
  const servers = data?.items.filter((server) => server.networkId === network.networkId && server.serverType !== "agent");
  return html`<section aria-labelledby="network-servers"><h2 id="network-servers">${say("servers.title")}</h2>
    ${error ? html`<${Fault} error=${error} />` : !servers ? html`<${Loading} />`
      : servers.length === 0 ? html`<${Empty} action=${html`<a class="button" href="/app/servers">${say("servers.title")}</a>`}>${say("networks.noServers")}<//>`
      : html`<ul class="cards">${servers.map(({ serverId, name, serverType, status }) => html`<li key=${serverId}><div class="grow"><a href=${`/app/servers/${serverId}`}><bdi>${name}</bdi></a><p class="dim">${serverType}</p></div>
        <span class=${`chip ${status.online ? "good" : "plain"}`}>${status.online ? say("server.players", { count: status.playerCount, max: number(status.playerCapacity) }) : say("server.offline")}</span></li>`)}</ul>`}</section>`;
}

function Hosts({ network }) {
  const list = useRead((signal) => api.hosts(signal));
  const issue = useAction(async () => {
    const { joinToken, expiresIn } = await api.joinToken(network.networkId);
    await showSecret({ title: say("networks.joinToken"), text: say("networks.joinTokenText", { time: duration(expiresIn * 1000) }), secret: joinToken });
    await list.reload();
  });
  return html`<section aria-labelledby="network-hosts"><h2 id="network-hosts">${say("networks.hosts")}</h2>
    <${State} of=${list}>${({ items }) => html`<${HostList} hosts=${items.filter((host) => host.networkId === network.networkId)} />`}<//>
    <p class="dim">${say("networks.hostsText")}</p>
    <div class="buttons start"><button type="button" disabled=${issue.isRunning} onClick=${() => issue.run()}>${say("networks.joinToken")}</button></div><${Complaint} error=${issue.error} /></section>`;
}

function HostList({ hosts }) {
  if (hosts.length === 0) return html`<${Empty}>${say("networks.noHosts")}<//>`;
  return html`<ul class="cards">${hosts.map((host) => html`<li key=${host.serverId}><div class="grow"><bdi>${host.name}</bdi>
    <p class="dim">${host.lastSeenIp ? html`${say("server.seen")} <${When} at=${host.lastSeenAt} /> · ${host.lastSeenIp}` : say("networks.neverCalled")}</p></div></li>`)}</ul>`;
}
