"""Passes changes of game servers on to the statuses: a new network, or their removal."""

from functools import partial

from actors.connect import events
from actors.connect.events import ServerNews
from actors.publications.statuses import Statuses
from routes.connect.parts import GAME_SERVERS
from routes.jobs import BackgroundTask, Job
from routes.publications.parts import STATUSES
from routes.service import Service


def follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    """Subscribe to the events of game servers, so that statuses follow their network and removal; runs no tasks."""
    service.of(GAME_SERVERS).news.append(partial(_hear, service.of(STATUSES)))
    return ()


def show_gauges(service: Service) -> None:
    """Register the gauge of how many servers have a status."""
    service.metrics.gauge(
        "server_statuses", "Game servers whose status is kept.", lambda: len(service.of(STATUSES))
    )


def _hear(known: Statuses, server_id: str, event: ServerNews) -> None:
    match event:
        case events.ServerChanged(row):
            known.moved(server_id, row.network_id)
        case events.ServerRemoved():
            known.forget(server_id)
