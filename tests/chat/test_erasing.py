"""Erasing a user from messages that are written meanwhile."""

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import pytest

from actors.chat.commands import Told, VotePoll
from actors.chat.erasing import AT_ONCE, erase_everywhere
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.errors import DatabaseUnavailable
from persistence.schema.migrate import migrate, shipped
from persistence.users.erasure import unswept
from tests.chat.play import a_poll, uid
from tests.chat.stage import Stage, gone, make_users, open_stage
from tests.users.traces import traces


class Watched:
    """A database of which somebody is told before each unit.

    Args:
        before: awaited before each.
    """

    def __init__(self, database: Database, before: Callable[[], Awaitable[None]]) -> None:
        self.submit = database.submit
        self._database = database
        self._before = before

    async def read(self, unit: Callable[..., Awaitable[Any]], /, *args: object) -> Any:
        await self._before()
        return await self._database.read(unit, *args)

    async def transact(self, unit: Callable[..., Awaitable[Any]], /, *args: object) -> Any:
        await self._before()
        return await self._database.transact(unit, *args)


class Erasure:
    """One user who has asked something that is no more in memory, and is erased while another votes.

    Args:
        name: the user's, which nobody else has.
        at: before which step of the erasing, a unit or a turn, the vote is decided.
        held: it is committed as late as can be: before the next turn of its conversation.
        lost: which turn of the conversation fails, from 1, so that all is done again; 0 for none.
    """

    def __init__(self, stage: Stage, name: str, at: int, *, held: bool, lost: int) -> None:
        self.stage = stage
        self.name = name
        self.at = at
        self.held = held
        self.lost = lost
        self.steps = 0
        self.turns = 0
        self._finish: Callable[[], Awaitable[None]] | None = None
        self._poll_id = ""

    async def run(self) -> None:
        """Erase them."""
        stage = self.stage
        await stage.database.transact(make_users, [self.name])
        await stage.create("ann", self.name, "cid")
        self._poll_id = (await stage.post(self.name, None, poll=a_poll())).id
        await stage.fill(130)
        await stage.database.transact(gone, self.name)
        store = Watched(stage.database, self._step)
        if self.lost:
            with pytest.raises(DatabaseUnavailable):
                await erase_everywhere(store, uid(self.name), self._tell)
        await erase_everywhere(store, uid(self.name), self._tell)
        await self._commit()

    async def _step(self) -> None:
        if self.steps == self.at:
            self._finish = await self.stage.begin(VotePoll(uid("cid"), self._poll_id, ("1",)))
            if not self.held:
                await self._commit()
        self.steps += 1

    async def _commit(self) -> None:
        finish, self._finish = self._finish, None
        if finish is not None:
            await finish()

    async def _tell(self, conversation_id: str, command: Told) -> None:
        if conversation_id == self.stage.id:
            await self._step()
            self.turns += 1
            if self.turns == self.lost:
                raise DatabaseUnavailable
            await self._commit()
            await self.stage.act(command)


@pytest.mark.parametrize(("held", "lost"), [(False, 0), (True, 0), (True, 2)])
async def test_a_vote_brings_no_erased_name_back_whenever_it_comes(
    database: Database, held: bool, lost: int
) -> None:
    """Between any two steps of the erasing, also when it had read the old message long before it is committed, and when
    the erasing is interrupted meanwhile."""
    stage = await open_stage(database)
    for at in count():
        erasure = Erasure(stage, f"quintessa before step {at}", at, held=held, lost=lost)
        await erasure.run()
        if at >= erasure.steps:
            break
    assert await database.read(traces, "quintessa") == {}
    assert erasure.turns >= 4


async def test_however_many_conversations_somebody_is_in_all_are_told(database: Database) -> None:
    many = 2 * AT_ONCE + 1
    await database.transact(_be_in, many)
    told: list[str] = []

    async def tell(conversation_id: str, _command: Told) -> None:
        told.append(conversation_id)

    await erase_everywhere(database, uid("ann"), tell)
    assert set(told) == {f"{number:024x}" for number in range(many)}


async def _be_in(conn: Connection, many: int) -> None:
    ids = [f"{number:024x}" for number in range(many)]
    await conn.execute(
        "INSERT INTO conversations (id, kind, created_at_ms) SELECT id, 'group', 0 FROM unnest($1::text[]) AS n (id)",
        ids,
    )
    await conn.execute(
        "INSERT INTO conversation_members (conversation_id, user_id, joined_at_ms, joined_seq, read_seq)"
        " SELECT id, $2, 0, 0, 0 FROM unnest($1::text[]) AS n (id)",
        ids,
        uid("ann"),
    )


NAME = "0077_left_by_the_erased.sql"


async def test_erasures_of_before_are_done_once_more(database: Database) -> None:
    """Those of users who are still in a conversation and have not come back."""
    stage = await open_stage(database)
    await stage.create("ann", "bob", "cid")
    await database.transact(_forget_migration, [uid(name) for name in ("ann", "bob", "dan")])
    assert await migrate(database, shipped()) == (NAME,)
    erasures, _ = await database.read(unswept, (-1, ""), 10)
    assert [one.user_id for one in erasures] == [uid("ann")]


async def _forget_migration(conn: Connection, erased: list[str]) -> None:
    await conn.execute("CREATE INDEX conversations_of_nobody ON conversations (id)")
    await conn.execute("DROP INDEX conversations_left")
    await conn.execute("DELETE FROM schema_migrations WHERE name = $1", NAME)
    await conn.execute(
        "INSERT INTO erased_users SELECT id, 0, true FROM unnest($1::text[]) AS n (id)", erased
    )
    await gone(conn, "ann")
