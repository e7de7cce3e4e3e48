"""Ends consent after a block: neither of the two users stays on a game server of the other (contract §2)."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from actors.connect.commands import EndConsent
from actors.connect.rules_sessions import SESSION_MS
from actors.errors import Refused
from actors.kernel.supervisor import Fault
from persistence.connect import sessions
from persistence.connection import Connection
from persistence.errors import PersistenceError
from persistence.friends.blocks import APART_MS
from routes.asking import ask_all_there
from routes.connect.parts import GAME_SERVERS
from routes.pruning import EachOf
from routes.service import Service


class ConsentBetween(NamedTuple):
    """Reconciliation subject: sessions and tickets of two users on servers of each other; ids in ascending order."""

    one_id: str
    other_id: str


def left_over(service: Service) -> EachOf[tuple[str, str]]:
    """Ends sessions and tickets that are left over because a process stopped after committing a block, pair by pair of
    an owner and a player; for a job."""

    async def page(after: tuple[str, str] | None, limit: int) -> list[tuple[str, str]]:
        since_ms = service.clock.now_ms() - SESSION_MS - APART_MS
        return await service.database.read(partial(sessions.barred, since_ms=since_ms), after, limit)

    async def end(pair: tuple[str, str]) -> None:
        await end_consent(service, _between(*pair))

    return EachOf(page, end, doing="ending consent after a block", about=" and ".join)


async def part(service: Service, one_id: str, other_id: str) -> None:
    """End the sessions and tickets of two users on servers of each other, after a block between them was committed.

    If that fails, it is queued for the reconciling job.
    """
    about = _between(one_id, other_id)
    try:
        await end_consent(service, about)
    except (PersistenceError, Refused, Fault):
        service.reconciler.add(about)


def _between(one_id: str, other_id: str) -> ConsentBetween:
    return ConsentBetween(min(one_id, other_id), max(one_id, other_id))


async def end_consent(service: Service, between: ConsentBetween) -> None:
    """End the sessions and tickets between two users, server by server; safe to repeat.

    Raises:
        PersistenceError: the rows cannot be read, or the database cannot be asked.
        RowsRejected, Refused, Fault: the last failure of a server; all others were asked.
    """
    kind = service.of(GAME_SERVERS).server
    pairs = await service.database.read(sessions.between, *between)
    found = await service.database.read(_consenting, pairs)

    def commands() -> Iterator[tuple[str, EndConsent]]:
        for server_id, player_id in pairs:
            # A live server may be about to store a ticket or a session that the rows do not show yet.
            if (server_id, player_id) in found or service.system.peek(kind, server_id) is not None:
                yield server_id, EndConsent(player_id)

    await ask_all_there(service, kind, commands())


async def _consenting(conn: Connection, pairs: list[tuple[str, str]]) -> set[tuple[str, str]]:
    return await sessions.consenting(conn, pairs)
