"""Consent that ends at a block: neither of two users plays on a server of the other any more (contract §2)."""

from typing import NamedTuple

from actors.connect.commands import EndConsent
from actors.errors import NotFound, Refused
from persistence.connect import sessions
from persistence.connection import Connection
from persistence.errors import PersistenceError
from routes.connect.parts import GAME_SERVERS
from routes.service import Service

AT_ONCE = 200
"""Pairs of users whom one run of the job looks after."""


class ConsentBetween(NamedTuple):
    """Sessions and tickets of either of two users on servers of the other."""

    one_id: str
    other_id: str


async def part_all(service: Service) -> None:
    """End what a process that stopped between a block and its consequences has left.

    Raises:
        PersistenceError: the database is away.
    """
    for owner_id, player_id in await service.database.read(sessions.barred, AT_ONCE):
        await part(service, owner_id, player_id)


async def part(service: Service, one_id: str, other_id: str) -> None:
    """A block between the two is committed: sessions and tickets of either end on servers of the other.

    What cannot be ended now is ended a moment later, by the job that asks what is in doubt.
    """
    about = ConsentBetween(min(one_id, other_id), max(one_id, other_id))
    try:
        await end_consent(service, about)
    except (PersistenceError, Refused):
        service.reconciler.add(about)


async def end_consent(service: Service, between: ConsentBetween) -> None:
    """End what there is of it.

    Raises:
        PersistenceError: the rows cannot be asked.
        Refused: a server cannot be asked.
    """
    kind = service.of(GAME_SERVERS).server
    pairs = await service.database.read(sessions.between, *between)
    found = await service.database.read(_consenting, pairs)
    for server_id, player_id in pairs:
        # A live server may be about to store a ticket or a session that the rows do not show yet.
        if (server_id, player_id) in found or service.system.peek(kind, server_id) is not None:
            try:
                await service.system.ask(kind, server_id, EndConsent(player_id))
            except NotFound:
                continue


async def _consenting(conn: Connection, pairs: list[tuple[str, str]]) -> set[tuple[str, str]]:
    return await sessions.consenting(conn, pairs)
