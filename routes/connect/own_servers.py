"""The part of the channel `servers`, and how it hears of game servers."""

from actors.connect.own_view import LiveOwnServers
from actors.connect.public_own import ServersNow
from routes.connect.parts import GAME_SERVERS
from routes.connect.waiters import WAITERS
from routes.part import Opening, Part
from routes.publications.parts import STATUSES
from routes.service import Service


async def _open(opening: Opening) -> LiveOwnServers:
    waiters, statuses = await opening.of(WAITERS), await opening.of(STATUSES)
    return LiveOwnServers(ServersNow(statuses, waiters.listening, opening.clock.now_ms))


OWN_SERVERS = Part(name="live servers of users", open=_open)
"""Each user's game servers, live."""


def follow_servers(service: Service) -> None:
    """Subscribe to the events of all servers, to their statuses, and to which of them listen for commands."""
    live = service.of(OWN_SERVERS)
    live.follow(service.system.touched, service.system.touched_everywhere)
    service.of(GAME_SERVERS).listeners.append(live.happened)
    service.of(GAME_SERVERS).news.append(live.heard)
