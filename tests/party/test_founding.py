"""What a user finds who makes a party while a turn of another one is committed between the reads of the unit."""

from collections.abc import Awaitable, Callable

import asyncpg
import pytest

from actors.change import Change
from actors.errors import Conflict
from actors.party.state import State
from actors.party.units import PartyCreation, create_party
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.party import rows
from persistence.party.rows import MemberRow
from tests.chat.stage import make_users
from tests.party.play import NOW_MS, uid

ANN, BOB = uid("ann"), uid("bob")
FIRST, SECOND, BOBS = (uid(name) for name in ("first", "second", "bobs"))

Between = Callable[[asyncpg.Connection, str | None], Awaitable[object]]


@pytest.fixture
async def found(database: Database) -> Callable[[str, str], Awaitable[Change[State]]]:
    """Founds a party of a user, or finds theirs."""
    await database.transact(make_users, ("ann", "bob"))

    async def found(user_id: str, party_id: str) -> Change[State]:
        return await database.transact(create_party, PartyCreation(user_id, party_id, "e1", NOW_MS))

    return found


def meanwhile(monkeypatch: pytest.MonkeyPatch, url: str, act: Between) -> None:
    """Have something committed right after the unit has read in which party its user is."""
    read = rows.party_of

    async def party_of(conn: Connection, user_id: str) -> str | None:
        present = await read(conn, user_id)
        other = await asyncpg.connect(url)
        try:
            await act(other, present)
        finally:
            await other.close()
        return present

    monkeypatch.setattr(rows, "party_of", party_of)


async def test_a_party_that_ends_meanwhile_is_not_found(
    database_url: str, found: Callable[..., Awaitable[Change[State]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await found(ANN, FIRST)).value.id == FIRST
    meanwhile(monkeypatch, database_url, lambda conn, present: rows.end(conn, [present or ""]))
    change = await found(ANN, SECOND)
    assert change.value.id == SECOND
    assert [event.is_new for event in change.events] == [True]


async def test_a_party_that_its_user_leaves_meanwhile_is_not_found(
    database_url: str, found: Callable[..., Awaitable[Change[State]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    await found(ANN, FIRST)
    meanwhile(monkeypatch, database_url, lambda conn, present: rows.leave(conn, [(present or "", ANN)]))
    assert (await found(ANN, SECOND)).value.id == SECOND


async def test_who_joins_another_meanwhile_is_refused(
    database_url: str, found: Callable[..., Awaitable[Change[State]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    await found(BOB, BOBS)
    joining = [MemberRow(BOBS, ANN, "ann", NOW_MS)]
    meanwhile(monkeypatch, database_url, lambda conn, present: rows.join(conn, joining))
    with pytest.raises(Conflict):
        await found(ANN, FIRST)
