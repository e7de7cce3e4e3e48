"""What statuses follow: servers that move or go."""

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
    """From now on a server's status counts for the network that it is in, and is gone when it is."""
    service.of(GAME_SERVERS).listeners.append(partial(_happened, service.of(STATUSES)))
    return ()


def show_gauges(service: Service) -> None:
    """How many servers say something of themselves."""
    service.metrics.gauge(
        "server_statuses", "Game servers whose status is kept.", lambda: len(service.of(STATUSES))
    )


def _happened(known: Statuses, state: State, event: AnyEvent) -> None:
    match event:
        case events.ServerChanged():
            known.moved(state.id, event.row.network_id)
        case events.ServerRemoved():
            known.forget(state.id)
