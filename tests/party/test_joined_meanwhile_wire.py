"""Wire: a user joins another party after the turn of an acceptance has read in which one they are: as with two devices
whose requests are decided in two parties at the same moment.
"""

from collections.abc import Awaitable, Callable

import asyncpg
import pytest
from structlog.testing import capture_logs

from persistence.connection import Connection
from persistence.party import rows
from persistence.party.rows import MemberRow
from tests.party.play import INVITES, NOW_MS, PARTY, gather, invite
from tests.support.world import World

Act = Callable[[asyncpg.Connection], Awaitable[object]]

IN_THE_TURN = 2
"""Which read of the user's party is that of the turn, after that of the request."""


def _around_reads(
    monkeypatch: pytest.MonkeyPatch, url: str, *, after_the_turns: Act, before_any_later: Act
) -> None:
    """Have something committed right after the turn has read the party of its user, and before each read after it."""
    read, reads = rows.party_of, 0

    async def by_itself(act: Act) -> None:
        other = await asyncpg.connect(url)
        try:
            await act(other)
        finally:
            await other.close()

    async def party_of(conn: Connection, user_id: str) -> str | None:
        nonlocal reads
        reads += 1
        if reads > IN_THE_TURN:
            await by_itself(before_any_later)
        present = await read(conn, user_id)
        if reads == IN_THE_TURN:
            await by_itself(after_the_turns)
        return present

    monkeypatch.setattr(rows, "party_of", party_of)


@pytest.mark.parametrize("leaves", [False, True], ids=["and stays", "and leaves it again"])
async def test_who_joins_another_party_meanwhile_is_refused_without_a_fault(
    world: World, database_url: str, monkeypatch: pytest.MonkeyPatch, leaves: bool
) -> None:
    host, other, ann = await world.players("Host", "Other", "Ann")
    party_id, others = await gather(host), await gather(other)
    await invite(host, ann)
    joining = [MemberRow(others, ann.id, "Ann", NOW_MS)]

    async def leave(conn: asyncpg.Connection) -> None:
        if leaves:
            await rows.leave(conn, [(others, ann.id)])

    _around_reads(
        monkeypatch,
        database_url,
        after_the_turns=lambda conn: rows.join(conn, joining),
        before_any_later=leave,
    )
    with capture_logs() as lines:
        assert await ann.refused("POST", f"{INVITES}/{party_id}/accept") == (409, "INVALID_STATE")
    assert [line for line in lines if line["log_level"] in {"warning", "error"}] == []
    assert len((await host.get(PARTY))["party"]["members"]) == 1
