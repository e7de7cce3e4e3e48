"""Wire: telling a party's past again costs nobody else more than a moment, whatever has been selected in it."""

import msgspec

from actors.party.loading import REPLAYED_BYTES, replay
from actors.party.selection import MAX_MODS, MAX_MODS_BYTES
from tests.party.play import ARENA, SELECTION, gather, subscribe
from tests.support.world import World

MODS = [[[]] * 40] * MAX_MODS
"""Ten thousand lists, which are a byte each in the journal."""

COSTLY = {**ARENA, "profileRequirement": {"requiredMods": MODS}}


async def test_a_past_that_is_too_large_is_a_snapshot(world: World) -> None:
    assert len(msgspec.json.encode(MODS)) <= MAX_MODS_BYTES
    fitting = REPLAYED_BYTES // (len(msgspec.msgpack.encode(MODS)) + 1_000)
    ann = await world.player("Ann")
    party_id = await gather(ann)
    async with ann.live("/v1/social/live?channels=") as socket:
        _, first = await subscribe(socket)
    since, read = {"epoch": first["epoch"], "offset": first["offset"]}, world.service.database.read
    for _ in range(fitting):
        await ann.do("PUT", SELECTION, COSTLY)
    upto = first["offset"] + fitting
    told = await read(replay, party_id, first["offset"], upto)
    assert told is not None
    assert [revision for revision, _ in told] == list(range(first["offset"] + 1, upto + 1))
    async with ann.live("/v1/social/live?channels=") as socket:
        assert (await subscribe(socket, since))[0]["recovered"] is True
    for _ in range(3):
        await ann.do("PUT", SELECTION, COSTLY)
    for after in (first["offset"], upto + 2):
        assert await read(replay, party_id, after, upto + 3) is None
    async with ann.live("/v1/social/live?channels=") as socket:
        reply, snapshot = await subscribe(socket, since)
        assert (reply["recovered"], reply["offset"]) == (False, upto + 3)
        assert (snapshot["type"], snapshot["offset"]) == ("snapshot", upto + 3)
