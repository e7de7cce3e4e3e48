"""Live: what the rights of users in memory resolve to, while the catalog grows and grants end."""

from actors.users.permissions import QUOTA_UNITS
from actors.users.quantities import Quantity
from actors.users.resolver import MOVES_KEPT
from actors.users.users import Users
from tests.users.memory import ANN, BEN, NOW_MS, NOW_S


async def test_a_node_that_comes_into_the_catalog_moves_everybody(users, grant, told):
    await users.arrive(ANN, "Ann", NOW_S)
    before = await users.arrive(BEN, "Ben", NOW_S)
    assert before.allows("social:chat.write")
    await grant(ANN, "social:chat.write")
    users.catalog_grew("social:chat.write")
    users.changed(ANN)
    assert users.peek_access(BEN) is not before
    assert not (await users.access_of(BEN)).allows("social:chat.write")
    assert (await users.access_of(ANN)).allows("social:chat.write")
    assert told == ["", ANN]


async def test_a_node_that_grants_nothing_by_absence_moves_nobody(users, told):
    await users.arrive(ANN, "Ann", NOW_S)
    users.catalog_grew("svc.connect.extensions.mine")
    users.catalog_grew("svc.connect.extensions.mine")
    assert told == []


async def test_a_catalog_that_grows_never_recomputes_those_whom_it_does_not_concern(users, grant):
    """Others keep the very same access; who names such nodes by a pattern, and a super-admin, have them at once."""
    await users.arrive(ANN, "Ann", NOW_S)
    await users.arrive(BEN, "Ben", NOW_S)
    await grant(BEN, "svc.connect.extensions.mine")
    await grant(BEN, "svc:*")
    users.changed(BEN)
    ann, ben = await users.access_of(ANN), await users.access_of(BEN)
    users.catalog_grew("svc.connect.extensions.other")
    assert users.peek_access(ANN) is ann
    assert users.peek_access(BEN) is ben
    users.catalog_grew("svc:other")
    assert users.peek_access(ANN) is ann
    assert "svc:other" in users.peek_access(BEN).held
    users.catalog_grew("social:chat.read")
    assert users.peek_access(ANN) is not ann
    assert not users.peek_access(ANN).allows("social:chat.read")


async def test_nodes_that_leave_the_catalog_are_held_no_longer(users, grant):
    """By who names them by a pattern; others keep the very same access."""
    await users.arrive(ANN, "Ann", NOW_S)
    await users.arrive(BEN, "Ben", NOW_S)
    await grant(BEN, "svc:*")
    users.changed(BEN)
    ann = await users.access_of(ANN)
    users.catalog_grew("svc:other")
    assert "svc:other" in (await users.access_of(BEN)).held
    users.catalog_shrank(["svc:other"])
    assert "svc:other" not in users.peek_access(BEN).held
    assert users.peek_access(ANN) is ann
    users.catalog_grew("svc:other")
    assert "svc:other" in users.peek_access(BEN).held


async def test_a_catalog_that_moves_for_ever_takes_no_more_memory(users, grant):
    await users.arrive(ANN, "Ann", NOW_S)
    await users.arrive(BEN, "Ben", NOW_S)
    await grant(BEN, "svc:*")
    users.changed(BEN)
    await users.access_of(BEN)
    before = len(await users._resolver.catalog())
    for number in range(MOVES_KEPT):
        users.catalog_grew(f"svc:{number}")
        users.catalog_shrank([f"svc:{number}"])
    assert len(await users._resolver.catalog()) == before
    assert len(users._resolver._moves) <= MOVES_KEPT
    users.catalog_grew("svc:new")
    assert "svc:new" in users.peek_access(BEN).held
    assert not users.peek_access(ANN).allows("svc:new")


async def test_grants_end_at_their_expiry(users, grant, clock, told):
    await users.arrive(ANN, "Ann", NOW_S)
    await grant(ANN, "connect:social.act", expires_at_ms=NOW_MS + 1000)
    users.changed(ANN)
    access = await users.access_of(ANN)
    assert access.valid_until_ms == NOW_MS + 1000
    clock.at_ms += 999
    users.tick()
    assert users.peek_access(ANN) is access
    clock.at_ms += 1
    users.tick()
    users.tick()
    assert told == [ANN, ANN]
    assert not users.peek_access(ANN).allows("connect:social.act")


async def test_an_end_is_told_of_where_the_rights_were_resolved_between_it_and_the_tick(
    users, grant, clock, told
):
    """A request of the user is answered by then; what they have open still stands on the former rights."""
    await users.arrive(ANN, "Ann", NOW_S)
    await grant(ANN, "connect:social.act", expires_at_ms=NOW_MS + 1000)
    users.changed(ANN)
    await users.access_of(ANN)
    clock.at_ms += 1000
    assert not users.peek_access(ANN).allows("connect:social.act")
    users.tick()
    assert told == [ANN, ANN]


async def test_an_end_that_moved_to_later_is_told_of_then(users, grant, clock, told):
    await users.arrive(ANN, "Ann", NOW_S)
    for at_ms in (NOW_MS + 1000, NOW_MS + 5000):
        await grant(ANN, "connect:social.act", expires_at_ms=at_ms)
        users.changed(ANN)
        await users.access_of(ANN)
    told.clear()
    clock.at_ms += 1000
    users.tick()
    await users.access_of(ANN)
    assert told == []
    clock.at_ms += 4000
    users.tick()
    assert told == [ANN]


async def test_each_of_several_ends_is_told_of(users, grant, clock, told):
    await users.arrive(ANN, "Ann", NOW_S)
    for seconds, node in enumerate(["a:b", "c:d", "e:f"], 1):
        await grant(ANN, node, expires_at_ms=NOW_MS + seconds * 1000)
    users.changed(ANN)
    await users.access_of(ANN)
    told.clear()
    for _ in range(5):
        clock.at_ms += 1000
        users.tick()
        await users.access_of(ANN)
    assert told == [ANN, ANN, ANN]


async def test_reloads_leave_room_for_the_ends_of_others(store, clock, numbers, grant):
    """Each reload took one of the places that there are, until no end was noted any more."""
    users = Users(store, clock, numbers, capacity=3)
    await users.open()
    told = []
    for user_id in (ANN, BEN):
        await users.arrive(user_id, "Somebody", NOW_S)
        await grant(user_id, "connect:social.act", expires_at_ms=NOW_MS + 1000)
    for user_id in (*[ANN] * 20, BEN):
        users.changed(user_id)
        await users.access_of(user_id)
    users.on_access_change(told.append)
    clock.at_ms += 1000
    users.tick()
    assert sorted(told) == [ANN, BEN]


async def test_quotas_come_with_their_units(users, grant):
    await users.arrive(ANN, "Ann", NOW_S)
    await grant(ANN, "social:chat.send", quantity=Quantity(3.0, "messages"))
    users.changed(ANN)
    assert (await users.access_of(ANN)).quota("social:chat.send") == Quantity(3.0, "messages")
    assert "social:chat.send" in QUOTA_UNITS
