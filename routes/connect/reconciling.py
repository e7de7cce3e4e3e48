"""Game servers that are asked who is on them, after a change of which nobody knows whether it was committed."""

from functools import partial

from actors.connect.commands import EndExpired
from actors.connect.state import State
from actors.errors import NotFound
from routes.connect.parts import GAME_SERVERS
from routes.service import Service


def follow_unknown_outcomes(service: Service) -> None:
    """Ask, from now on, whenever there is a doubt."""

    def outcome_unknown(server_id: str) -> None:
        service.reconciler.add(f"server {server_id}", partial(_settle, service, server_id))

    service.of(GAME_SERVERS).on_outcome_unknown.append(outcome_unknown)


async def _settle(service: Service, server_id: str) -> None:
    kind = service.of(GAME_SERVERS).server
    try:
        await service.system.ask(kind, server_id, EndExpired())
    except NotFound:
        known: State | None = None
    else:
        known = service.system.peek(kind, server_id)
    service.of(GAME_SERVERS).playing.settle(server_id, () if known is None else known.sessions.values())
    # It may have been read again while the change was on its way.
    service.of(GAME_SERVERS).credentials.distrust(server_id)
