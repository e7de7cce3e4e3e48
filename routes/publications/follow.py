"""Passes changes of game servers on to the statuses: a new network, or their removal."""

from functools import partial

from actors.connect import events
from actors.connect.events import AnyEvent
from actors.connect.state import State
from actors.publications.statuses import Statuses
from routes.connect.parts import GAME_SERVERS
from routes.jobs import BackgroundTask, Job
from routes.publications.parts import STATUSES
from routes.service import Service


def follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    """Subscribe to the events of game servers, so that statuses follow their network and removal; runs no tasks."""
    service.of(GAME_SERVERS).listeners.append(partial(_happened, service.of(STATUSES)))
    return ()


def show_gauges(service: Service) -> None:
    """Register the gauge of how many servers have a status."""
    service.metrics.gauge(
        "server_statuses", "Game servers whose status is kept.", lambda: len(service.of(STATUSES))
    )


def _happened(known: Statuses, state: State, event: AnyEvent) -> None:
    match event:
        case events.ServerChanged():
            known.moved(state.id, event.row.network_id)
        case events.ServerRemoved():
            known.forget(state.id)
