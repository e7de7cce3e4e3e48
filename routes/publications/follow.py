"""Keeps statuses up to date with changes of game servers, and with what these report to other nodes."""

from functools import partial

import trio

from actors.connect import events
from actors.connect.events import ServerNews
from actors.publications.statuses import Statuses
from actors.publications.telling import EVERY_SECONDS, TOPIC, Telling
from routes.connect.parts import GAME_SERVERS
from routes.jobs import BackgroundTask, Job
from routes.publications.parts import STATUSES
from routes.service import Service


def follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    """Subscribe to the events of game servers, so that statuses follow changes of their network and their removal; if
    there are other nodes, return the task that tells them what is reported here."""
    service.of(GAME_SERVERS).news.append(partial(_hear, service.of(STATUSES)))
    if service.node is None:
        return ()
    peers = service.node.membership.peers
    telling = Telling(
        service.of(STATUSES), lambda node, body: peers.offer(node, TOPIC, body), service.clock.now_ms
    )
    for node in peers.names:
        telling.met(node)
    peers.on_met(telling.met)
    peers.on_parted(telling.parted)
    peers.hear_topic(TOPIC, telling.heard)
    return (BackgroundTask("statuses for other nodes", partial(_keep_telling, telling)),)


def show_gauges(service: Service) -> None:
    """Register the gauge of how many servers have a status."""
    service.metrics.gauge(
        "server_statuses", "Game servers whose status is kept.", lambda: len(service.of(STATUSES))
    )


async def _keep_telling(telling: Telling) -> None:
    """Tell other nodes what is reported here, until cancelled."""
    while True:
        await trio.sleep(EVERY_SECONDS)
        telling.tell()


def _hear(known: Statuses, server_id: str, event: ServerNews) -> None:
    match event:
        case events.ServerChanged(row):
            known.moved(server_id, row.network_id)
        case events.ServerRemoved():
            known.forget(server_id)
