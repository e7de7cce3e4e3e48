"""Who changes heads and events of an actor locks them in one order."""

from functools import partial

from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.journal import history, journal, naming
from tests.support.locks import crossed


async def make(conn: Connection, *ids: str) -> None:
    """Actors with one event each."""
    for id in ids:
        await journal.create_head(conn, "thing", id, epoch="e", summary=b"", due_at_ms=None, at_ms=1)
        await conn.execute("INSERT INTO events VALUES ('thing', $1, 1, 1, 'ann')", id)


async def lock_head(conn: Connection, id: str) -> None:
    await conn.execute("SELECT FROM heads WHERE kind = 'thing' AND id = $1 FOR UPDATE", id)


async def test_forgetting_who_has_ended_beside_a_rewrite_of_their_events(database: Database) -> None:
    """`naming.rewrite` takes the head, then the events."""
    await database.transact(make, "a")
    rewrite = partial(naming.rewrite, kind="thing", id="a", changed={1: (b"ann", b"ben")})
    forget = partial(database.transact, history.forget_ended, "thing", ["a"], 100)
    await crossed(database, partial(lock_head, id="a"), rewrite, forget)


async def test_forgetting_the_same_ended_actors_twice_at_once(database: Database) -> None:
    await database.transact(make, "b", "a")
    forget = partial(database.transact, history.forget_ended, "thing", ["b", "a"], 100)
    await crossed(database, partial(lock_head, id="a"), partial(lock_head, id="b"), forget)
