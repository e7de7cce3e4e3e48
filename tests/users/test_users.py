"""Live: users in memory over the real database, and the races between the two."""

import pickle
from functools import partial

import pytest
import trio

from actors.errors import NotFound
from actors.users.permissions import BUILT_IN_NODES, Role
from actors.users.units_rights import enrol, revoke_grant
from actors.users.users import Users
from persistence.errors import DatabaseUnavailable
from persistence.users.erasure import Erasure, claim, erase, finish, prolong, release, unswept
from persistence.users.permissions import CHANNEL, read_catalog, renamed
from persistence.users.users import arrive, keep_users, read_user
from tests.support.locks import interrupted
from tests.support.waiting import patience
from tests.users.memory import ANN, BEN, NOW_MS, NOW_S


async def test_the_catalog_of_a_fresh_install(users, database):
    assert {one.node for one in await database.read(read_catalog)} == BUILT_IN_NODES
    await users.open()
    assert len(await database.read(read_catalog)) == len(BUILT_IN_NODES)


async def test_first_sight_makes_the_user(users, database):
    access = await users.arrive(ANN, "Ann", NOW_S)
    assert access.highest_role_label == "User"
    row = await database.read(read_user, ANN)
    assert (row.name, row.created_at_ms, row.first_joined_at_ms) == ("Ann", NOW_MS, NOW_MS)
    assert row.allow_friend_requests


async def test_first_sight_by_many_at_once_is_one_user_and_few_reads(users, store):
    accesses = []

    async def arrive():
        accesses.append(await users.arrive(ANN, "Ann", NOW_S))

    before = store.reads
    async with trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(arrive)
    assert len(accesses) == 100
    assert len({id(access) for access in accesses}) == 1
    assert store.reads - before <= 3


async def test_first_sight_by_two_processes_at_once(users, store, clock, numbers):
    other = Users(store, clock, numbers)
    async with trio.open_nursery() as nursery:
        for one in (users, other) * 10:
            nursery.start_soon(one.arrive, ANN, "Ann", NOW_S)
    assert await other.name_of(ANN) == await users.name_of(ANN) == "Ann"


async def test_a_user_in_memory_costs_no_read(users, store):
    access = await users.arrive(ANN, "Ann", NOW_S)
    before = store.reads
    assert await users.arrive(ANN, "Ann", NOW_S) is access
    assert await users.access_of(ANN) is access
    assert users.peek_access(ANN) is access
    assert await users.name_of(ANN) == "Ann"
    assert store.reads == before


async def test_what_users_store_is_not_kept_in_memory(users, database):
    """64 KiB of style each, of 50,000 users, were 3 GB."""
    await users.arrive(ANN, "Ann", NOW_S)
    await database.transact(store_style, ANN, b'"' + b"x" * 60_000 + b'"')
    users.changed(ANN)
    await users.access_of(ANN)
    entry = users._entries[ANN]
    assert len(pickle.dumps(entry.user)) < 1_000


async def store_style(conn, user_id, style):
    await conn.execute("UPDATE users SET ui_style = $2 WHERE id = $1", user_id, style)


@pytest.mark.parametrize(
    ("name", "issued_at_s", "expected"),
    [
        ("Anna", NOW_S + 1, "Anna"),
        ("Anna", NOW_S, "Anna"),
        ("Anna", NOW_S - 5, "Anna"),
        ("Anna", NOW_S - 6, "Ann"),
    ],
)
async def test_a_token_that_is_not_older_renames(users, database, name, issued_at_s, expected):
    renamed = []
    users.on_rename(lambda *args: renamed.append(args))
    await users.arrive(ANN, "Ann", NOW_S)
    await users.arrive(ANN, name, issued_at_s)
    assert await users.name_of(ANN) == (await database.read(read_user, ANN)).name == expected
    assert renamed == ([(ANN, "Anna")] if expected == "Anna" else [])


async def test_an_unknown_user_has_no_name_and_no_access(users):
    assert await users.name_of(ANN) is None
    assert users.peek_access(ANN) is None
    with pytest.raises(NotFound):
        await users.access_of(ANN)


async def test_a_change_counts_at_once(users, grant, database, stamp, told):
    await users.arrive(ANN, "Ann", NOW_S)
    await grant(ANN, "connect:social.act")
    users.changed(ANN)
    assert users.peek_access(ANN) is None
    assert (await users.access_of(ANN)).allows("connect:social.act")
    await database.transact(revoke_grant, ANN, "connect:social.act", stamp())
    users.changed(ANN)
    assert not (await users.access_of(ANN)).allows("connect:social.act")
    assert told == [ANN, ANN]


async def access_loaded_over(users, store, change):
    """Ann's access, as answered to who asks before a change whose rows are read before it and come after it."""
    store.gate = trio.Event()
    found = []

    async def ask():
        found.append(await users.access_of(ANN))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        await store.answered.wait()
        await change()
        store.gate.set()
    return found[0]


async def test_a_load_that_is_overtaken_by_a_change_is_repeated(users, store, grant):
    """Read before the change, answered after it: without the repeat this would grant what was taken away."""
    await users.arrive(ANN, "Ann", NOW_S)
    await grant(ANN, "connect:social.act")
    users.changed(ANN)

    async def change():
        await grant(ANN, "connect:social.act", negated=True)
        users.changed(ANN)

    assert not (await access_loaded_over(users, store, change)).allows("connect:social.act")
    assert not (await users.access_of(ANN)).allows("connect:social.act")


async def test_a_load_is_resolved_by_a_catalog_that_was_read_after_what_was_missed(users, store, grant):
    for user_id, name in ((ANN, "Ann"), (BEN, "Ben")):
        await users.arrive(user_id, name, NOW_S)
    users.changed(ANN)

    async def change():
        # Another process names the node, which ends it for whoever was not granted it; of that nothing is heard.
        await grant(BEN, "social:chat.read")
        users.heard("")

    assert not (await access_loaded_over(users, store, change)).allows("social:chat.read")


async def test_changes_by_another_process_are_heard(users, database, grant, told):
    await users.arrive(ANN, "Ann", NOW_S)
    heard, hears = trio.open_memory_channel(10)

    def hear(payload):
        users.heard(payload)
        heard.send_nowait(payload)

    database.listen(CHANNEL, hear)
    with patience():
        assert await hears.receive() == ""
        await users.access_of(ANN)
        await grant(ANN, "social:chat.read")
        assert [await hears.receive(), await hears.receive()] == ["+social:chat.read", ANN]
        await grant(ANN, "social:chat.read", negated=True)
        assert await hears.receive() == ANN
    assert told == ["", "", ANN, ANN]
    access = await users.arrive(ANN, "Ann", NOW_S)
    assert not access.allows("social:chat.read")


async def test_a_new_name_is_heard_where_the_user_is_unknown(users, database):
    """Another process renames: owners that live here show the name, whether the user is in our memory or not."""
    told = []
    users.on_rename(lambda *args: told.append(args))
    heard, hears = trio.open_memory_channel(10)

    def hear(payload):
        users.heard(payload)
        heard.send_nowait(payload)

    async def rename(name):
        await database.transact(lambda conn: arrive(conn, ANN, name, issued_at_s=NOW_S, now_ms=NOW_MS))

    await rename("Ann")
    database.listen(CHANNEL, hear)
    with patience():
        assert await hears.receive() == ""
        await rename("Anna Maria")
        assert await hears.receive() == renamed(ANN, "Anna Maria")
        assert told == [(ANN, "Anna Maria")]
        assert await users.name_of(ANN) == "Anna Maria"
        await rename("Anna")
        assert await hears.receive() == renamed(ANN, "Anna")
    assert await users.name_of(ANN) == "Anna"
    assert told[1:] == [(ANN, "Anna")]


async def test_a_new_name_is_told_of_a_user_who_was_read_before_it_was_heard(users, database):
    """Who is read anew between another process' commit and its announcement has the name already; what shows them has
    not."""
    told = []
    users.on_rename(lambda *args: told.append(args))
    for name in ("Ann", "Anna"):
        await database.transact(
            lambda conn, name=name: arrive(conn, ANN, name, issued_at_s=NOW_S, now_ms=NOW_MS)
        )
    assert await users.name_of(ANN) == "Anna"
    assert told == []
    users.heard(renamed(ANN, "Anna"))
    assert told == [(ANN, "Anna")]


async def test_a_new_name_is_told_once(users):
    """The process that has renamed a user hears its own announcement."""
    told = []
    users.on_rename(lambda *args: told.append(args))
    await users.arrive(ANN, "Ann", NOW_S)
    for name in ("Anna", "Ann", "Anna"):
        await users.arrive(ANN, name, NOW_S)
        users.heard(renamed(ANN, name))
        assert await users.name_of(ANN) == name
    assert told == [(ANN, "Anna"), (ANN, "Ann"), (ANN, "Anna")]


@pytest.mark.parametrize("role", [Role.MODERATOR, Role.ADMIN, Role.SUPER_ADMIN])
async def test_enrolling_twice_gives_the_role_once(users, database, stamp, role):
    for _ in range(2):
        await database.transact(enrol, ANN, "Ann", role, stamp())
    access = await users.access_of(ANN)
    assert access.roles == {Role.USER, role}


async def test_a_store_that_cannot_be_asked_grants_nothing(users, store):
    """Only the answer "no such node" grants by default; no answer is a 503 (contract §2)."""
    store.away = True
    with pytest.raises(DatabaseUnavailable):
        await users.arrive(ANN, "Ann", NOW_S)
    store.away = False
    assert (await users.arrive(ANN, "Ann", NOW_S)).allows("social:chat.write")
    users.heard("")
    store.away = True
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable):
            await users.access_of(ANN)


async def finished(database, erasure):
    """Claim an erasure and finish it; returns whether that was possible."""
    until_ms = await database.transact(claim, erasure, 60.0)
    return until_ms is not None and await database.transact(finish, erasure, until_ms)


async def test_whoever_comes_back_after_an_erasure_begins_with_the_tokens_of_before_revoked(
    users, store, database, clock, numbers
):
    """In memory, on another node that knows the rows alone, and for a token of before that arrives at the same time."""
    other = Users(store, clock, numbers)
    refused = []

    async def come(issued_at_s):
        try:
            await users.arrive(ANN, "Ann", issued_at_s)
        except NotFound:
            refused.append(issued_at_s)

    for tokens in ((NOW_S, NOW_S + 1), (NOW_S + 1, NOW_S)):
        await database.transact(partial(erase, even_if_held=False), ANN, NOW_MS)
        assert await finished(database, Erasure(ANN, NOW_MS))
        for one in (users, other):
            one.heard(ANN)
        async with trio.open_nursery() as nursery:
            for token in tokens:
                nursery.start_soon(come, token)
        for one in (users, other):
            with pytest.raises(NotFound):
                await one.arrive(ANN, "Ann", NOW_S)
            assert one.peek_believed(ANN, NOW_S + 1) is not None
            assert one.peek_believed(ANN, NOW_S) is None
    assert refused == [NOW_S, NOW_S]


async def test_nobody_comes_back_before_their_erasure_is_finished(users, database):
    await users.arrive(ANN, "Ann", NOW_S)
    await database.transact(partial(erase, even_if_held=False), ANN, NOW_MS)
    users.heard(ANN)
    for _ in range(2):
        with pytest.raises(NotFound):
            await users.arrive(ANN, "Ann", NOW_S + 1)
    assert await finished(database, Erasure(ANN, NOW_MS))
    await users.arrive(ANN, "Ann", NOW_S + 1)


async def test_only_the_erasure_that_was_read_is_finished(users, database):
    """One that ends late, when the user has come back and was erased again, finishes nothing."""
    first, second = Erasure(ANN, NOW_MS), Erasure(ANN, NOW_MS + 5_000)
    await database.transact(partial(erase, even_if_held=False), ANN, first.erased_at_ms)
    assert await finished(database, first)
    await database.transact(partial(erase, even_if_held=False), ANN, second.erased_at_ms)
    assert not await finished(database, first)
    assert await database.read(unswept, (-1, ""), 10) == ([second], None)


async def test_an_erasure_is_one_claim_s_at_a_time(users, database):
    erasure = Erasure(ANN, NOW_MS)
    await database.transact(partial(erase, even_if_held=False), ANN, NOW_MS)
    begun_ms = await database.transact(claim, erasure, 60.0)
    assert await database.transact(claim, erasure, 60.0) is None
    later_ms = await database.transact(prolong, ANN, begun_ms, 120.0)
    assert later_ms > begun_ms
    assert await database.transact(prolong, ANN, begun_ms, 120.0) is None
    await database.transact(release, ANN, begun_ms)
    assert not await database.transact(finish, erasure, begun_ms)
    assert await database.transact(claim, erasure, 60.0) is None
    await database.transact(release, ANN, later_ms)
    # One that has ended by itself is another's as soon as that claims it, and not before.
    ended_ms = await database.transact(claim, erasure, -1.0)
    other_ms = await database.transact(claim, erasure, 60.0)
    assert not await database.transact(finish, erasure, ended_ms)
    assert await database.transact(finish, erasure, other_ms)
    assert await database.transact(claim, erasure, 60.0) is None


async def test_memory_is_bounded(store, clock, numbers):
    users = Users(store, clock, numbers, capacity=3)
    await users.open()
    ids = [f"00000000-0000-4000-8000-{number:012x}" for number in range(10)]
    for user_id in ids:
        await users.arrive(user_id, "U", NOW_S)
    assert [user_id for user_id in ids if users.peek_access(user_id)] == ids[-3:]
    assert await users.name_of(ids[0]) == "U"


async def test_last_seen_is_kept_in_memory_and_flushed(users, database, clock):
    await users.arrive(ANN, "Ann", NOW_S)
    clock.at_ms += 5_000
    users.last_seen.note(ANN, clock.now_ms())
    users.last_seen.note(BEN, clock.now_ms())
    user = await users.user_of(ANN)
    assert users.last_seen_of(user) == NOW_MS + 5_000
    await users.last_seen.flush()
    assert users.last_seen_of(user) == NOW_MS + 5_000
    assert (await database.read(read_user, ANN)).last_seen_at_ms == NOW_MS + 5_000
    await users.last_seen.flush()


async def test_last_seen_waits_for_nobody_who_refers_to_a_user(users, database, clock):
    """The writer's batches refer to users in the order of what has happened, not of their ids."""
    await users.arrive(ANN, "Ann", NOW_S)
    users.last_seen.note(ANN, NOW_MS + 5_000)
    await interrupted(database, partial(keep_users, user_ids=[ANN]), users.last_seen.flush)
    assert (await database.read(read_user, ANN)).last_seen_at_ms == NOW_MS + 5_000
