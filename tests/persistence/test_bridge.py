"""Units of work: results, errors, cancellation, deadlines; and notifications."""

import asyncio
import threading

import pytest
import trio

from persistence.bridge.database import Database, open_database
from persistence.connection import Connection
from persistence.errors import DatabaseUnavailable, OutcomeUnknown, RowsRejected
from tests.support.proxy import open_proxy
from tests.support.turns import Gate
from tests.support.waiting import PATIENCE_SECONDS, wait_until


class NotFit(Exception):
    """An error of a unit's own."""


async def make_table(conn: Connection) -> None:
    await conn.execute("CREATE TABLE words (word text PRIMARY KEY)")


async def add(conn: Connection, word: str) -> str:
    await conn.execute("INSERT INTO words VALUES ($1)", word)
    return word


async def add_and_fail(conn: Connection, word: str) -> None:
    await add(conn, word)
    raise NotFit(word)


async def words(conn: Connection) -> list[str]:
    return [row["word"] for row in await conn.fetch("SELECT word FROM words ORDER BY word")]


async def wait_at_gate(conn: Connection) -> None:
    await conn.execute("SELECT pg_advisory_xact_lock_shared(77)")


async def backend(conn: Connection) -> int:
    pid: int = await conn.fetchval("SELECT pg_backend_pid()")
    return pid


async def sessions_that(conn: Connection, condition: str) -> int:
    count: int = await conn.fetchval(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'partyline' "
        f"AND datname = current_database() AND pid <> pg_backend_pid() AND {condition}"
    )
    return count


@pytest.fixture
async def table(database: Database) -> Database:
    await database.transact(make_table)
    return database


async def test_units_run_in_the_other_thread_and_return_their_result(table: Database) -> None:
    async def where(_conn: Connection) -> str:
        return threading.current_thread().name

    assert await table.transact(add, "one") == "one"
    assert await table.read(words) == ["one"]
    assert await table.read(where) == "partyline-database"


async def test_a_transaction_is_all_or_nothing(table: Database) -> None:
    with pytest.raises(NotFit, match="two"):
        await table.transact(add_and_fail, "two")
    assert await table.read(words) == []


async def test_what_read_changes_is_changed_at_once(table: Database) -> None:
    with pytest.raises(NotFit):
        await table.read(add_and_fail, "two")
    assert await table.read(words) == ["two"]


@pytest.mark.parametrize("how", ["read", "transact"])
async def test_refused_rows_are_rejected_with_their_cause(table: Database, how: str) -> None:
    call = getattr(table, how)
    await call(add, "one")
    with pytest.raises(RowsRejected) as caught:
        await call(add, "one")
    assert caught.value.__cause__.constraint_name == "words_pkey"  # type: ignore[union-attr]
    assert "one" not in str(caught.value)


async def test_a_value_that_does_not_fit_is_rejected(table: Database) -> None:
    for word in ("nul \0", "\ud800", 7):
        with pytest.raises(RowsRejected):
            await table.transact(add, word)
    assert table.statistics().connections == 1


async def test_a_unit_that_goes_on_after_an_error_does_not_pass_for_committed(table: Database) -> None:
    async def swallow(conn: Connection) -> None:
        await add(conn, "one")
        with pytest.raises(Exception, match="duplicate"):
            await add(conn, "one")

    with pytest.raises(RowsRejected, match="rolled"):
        await table.transact(swallow)
    assert await table.read(words) == []


async def test_a_deferred_constraint_is_found_at_commit(table: Database) -> None:
    async def defer(conn: Connection) -> None:
        await conn.execute("CREATE TABLE links (word text REFERENCES words DEFERRABLE INITIALLY DEFERRED)")
        await conn.execute("INSERT INTO links VALUES ('absent')")

    with pytest.raises(RowsRejected):
        await table.transact(defer)


@pytest.mark.parametrize("how", ["read", "transact"])
async def test_a_cancelled_unit_has_ended_and_its_connection_with_it(
    table: Database, gate: Gate, how: str
) -> None:
    await gate.close()
    before = await table.read(backend)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(getattr(table, how), wait_at_gate)
        await gate.wait_for_arrival()
        nursery.cancel_scope.cancel()
    assert table.statistics().connections == 0
    await gate.open()
    assert await table.read(backend) != before
    assert table.statistics().connections == 1


async def test_a_unit_cancelled_before_it_began_leaves_nothing_behind(table: Database) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await table.transact(add, "one")
    assert scope.cancelled_caught
    async with trio.open_nursery() as nursery:
        for number in range(50):
            nursery.start_soon(table.transact, add, f"cancelled {number}")
        await trio.lowlevel.checkpoint()  # they are on their way, but no unit has run
        nursery.cancel_scope.cancel()
    assert await table.transact(add, "after") == "after"


async def test_those_who_wait_for_a_connection_may_be_cancelled(
    table: Database, gate: Gate, database_url: str
) -> None:
    async with (
        open_database(database_url, pool_size=1, timeout_seconds=PATIENCE_SECONDS) as narrow,
        trio.open_nursery() as nursery,
    ):
        await gate.close()
        nursery.start_soon(narrow.read, wait_at_gate)
        await gate.wait_for_arrival()
        async with trio.open_nursery() as waiting:
            for _ in range(5):
                waiting.start_soon(narrow.read, words)
            await trio.testing.wait_all_tasks_blocked()
            waiting.cancel_scope.cancel()
        await gate.open()
        assert await narrow.read(words) == []
        assert narrow.statistics().connections == 1


async def test_more_units_than_connections_all_get_their_turn(table: Database) -> None:
    async with trio.open_nursery() as nursery:
        for number in range(100):
            nursery.start_soon(table.transact, add, f"{number:03}")
    assert len(await table.read(words)) == 100
    statistics = table.statistics()
    assert statistics.connections <= 6
    assert statistics.connections_idle == statistics.connections


@pytest.mark.parametrize("how", ["read", "transact"])
async def test_a_unit_beyond_its_deadline_is_ended(table: Database, gate: Gate, how: str) -> None:
    await gate.close()
    with pytest.raises(DatabaseUnavailable) as caught:
        await getattr(table, how)(wait_at_gate, timeout_seconds=1.0)
    assert not isinstance(caught.value, OutcomeUnknown)
    assert table.statistics().connections == 0
    await gate.open()


async def test_the_server_ends_the_statement_of_a_unit_that_was_given_up(table: Database, gate: Gate) -> None:
    await gate.close()
    with pytest.raises(DatabaseUnavailable):
        await table.read(wait_at_gate, timeout_seconds=1.0)

    async def nobody_waits() -> bool:
        return await table.read(sessions_that, "wait_event = 'advisory'") == 0

    await wait_until(nobody_waits)
    await gate.open()


async def test_a_session_has_its_limits(database_url: str) -> None:
    async def limits(conn: Connection) -> list[str]:
        names = ("statement_timeout", "idle_in_transaction_session_timeout", "application_name", "TimeZone")
        return [await conn.fetchval("SELECT current_setting($1)", name) for name in names]

    async with open_database(database_url) as database:
        assert await database.read(limits) == ["5s", "5s", "partyline", "UTC"]


async def test_a_wrong_address_is_told_at_once() -> None:
    with pytest.raises(DatabaseUnavailable, match="cannot connect to the database"):
        async with open_database("postgresql://partyline@127.0.0.1:1/none"):
            pass


async def test_after_the_end_nothing_hangs(database_url: str) -> None:
    async with open_database(database_url) as closed:
        pass
    with pytest.raises(DatabaseUnavailable):
        await closed.read(backend)


async def test_closing_answers_what_still_runs(database_url: str, gate: Gate) -> None:
    await gate.close()
    answers: list[BaseException] = []

    async def ask(database: Database) -> None:
        try:
            await database.read(wait_at_gate)
        except DatabaseUnavailable as error:
            answers.append(error)

    async with trio.open_nursery() as nursery:
        async with open_database(database_url) as closing:
            nursery.start_soon(ask, closing)
            await gate.wait_for_arrival()
        await trio.testing.wait_all_tasks_blocked()
        assert len(answers) == 1
    await gate.open()


async def test_the_plain_loop_works_as_well(database_url: str) -> None:
    loop = asyncio.new_event_loop()
    async with open_database(database_url, loop=loop, timeout_seconds=PATIENCE_SECONDS) as database:
        await database.transact(make_table)
        assert await database.transact(add, "one") == "one"
    loop.close()


async def test_a_commit_without_an_answer_is_unknown(table: Database, database_url: str) -> None:
    async with open_proxy(database_url) as proxy, open_database(proxy.url) as database:
        for number, answered in enumerate((True, False)):
            proxy.cut_at(b"COMMIT\0", answered=answered)
            with pytest.raises(OutcomeUnknown):
                await database.transact(add, f"word {number}")
        assert await database.read(words) == ["word 0"]


async def test_a_transaction_lost_before_its_commit_has_changed_nothing(
    table: Database, database_url: str
) -> None:
    async with open_proxy(database_url) as proxy, open_database(proxy.url) as database:
        proxy.cut_at(b"INSERT", answered=True)
        with pytest.raises(DatabaseUnavailable) as caught:
            await database.transact(add, "one")
        assert not isinstance(caught.value, OutcomeUnknown)
        assert await database.read(words) == []


async def test_a_transaction_on_a_dead_connection_begins_again(table: Database, database_url: str) -> None:
    async with open_proxy(database_url) as proxy, open_database(proxy.url) as database:
        proxy.cut_at(b"BEGIN", answered=False)
        assert await database.transact(add, "one") == "one"


async def test_a_read_is_repeated_once(table: Database, database_url: str) -> None:
    async with open_proxy(database_url) as proxy, open_database(proxy.url) as database:
        proxy.cut_at(b"SELECT word", answered=True)
        assert await database.read(words) == []


async def test_silence_ends_at_the_deadline_and_heals(table: Database, database_url: str) -> None:
    async with open_proxy(database_url) as proxy, open_database(proxy.url, timeout_seconds=1.5) as database:
        assert await database.read(words) == []
        proxy.swallow()
        for _ in range(3):
            with pytest.raises(DatabaseUnavailable):
                await database.read(words)
        await wait_until(lambda: is_available(database, False))
        proxy.heal()
        await wait_until(lambda: is_available(database, True))
        assert await database.read(words) == []


async def is_available(database: Database, wanted: bool) -> bool:
    return database.available is wanted


class Ear:
    """Collects what is heard, and lets one wait for it."""

    def __init__(self) -> None:
        self.payloads: list[str] = []

    async def wait_for(self, payloads: list[str]) -> None:
        async def heard_all() -> bool:
            return self.payloads == payloads

        await wait_until(heard_all)


async def notify(conn: Connection, channel: str, payload: str) -> None:
    await conn.execute("SELECT pg_notify($1, $2)", channel, payload)


async def test_notifications_are_heard_in_order(database: Database) -> None:
    first, second, other = Ear(), Ear(), Ear()
    database.listen("users", first.payloads.append)
    await first.wait_for([""])
    database.listen("users", second.payloads.append)
    database.listen("others", other.payloads.append)
    await second.wait_for([""])
    await other.wait_for([""])
    for payload in "abc":
        await database.transact(notify, "users", payload)
    await first.wait_for(["", "a", "b", "c"])
    await second.wait_for(["", "a", "b", "c"])
    assert other.payloads == [""]


async def test_listening_begins_again_by_itself(database: Database, database_url: str) -> None:
    ear = Ear()
    async with open_proxy(database_url) as proxy, open_database(proxy.url) as listening:
        listening.listen("users", ear.payloads.append)
        await ear.wait_for([""])
        proxy.cut_at(b"SELECT 1", answered=False)
        await ear.wait_for(["", ""])
        await database.transact(notify, "users", "a")
        await ear.wait_for(["", "", "a"])
        assert listening.statistics().reconnects == 1
