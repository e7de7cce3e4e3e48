"""Wire: a party outlives the process, with everything in it and with its offsets."""

from functools import partial
from pathlib import Path
from typing import Any

from persistence.party.rows import sweep_ended
from routes.party.memberships import MEMBERSHIPS
from tests.party.play import ARENA, PARTY, SELECTION, SELECTORS, gather, invite, ready, subscribe
from tests.support.world import Player, World, open_world


def settled(shown: Any) -> Any:
    """The frame without what presence says."""
    for member in shown["party"]["members"]:
        del member["online"], member["status"]
    return shown


async def test_a_restart_changes_nothing(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path) as world:
        ann, ben, cid = await world.players("Ann", "Ben", "Cid")
        await gather(ann, ben)
        async with ann.live("/v1/social/live?channels=") as socket:
            _, first = await subscribe(socket)
        await invite(ben, cid)
        await ann.do("PUT", SELECTORS, {"selectorIds": [ben.id]})
        await ben.do("PUT", SELECTION, ARENA)
        for player in (ann, ben):
            last = await ready(player)
        before = settled(await ann.get(PARTY))
        assert last["party"]["lobby"]["launchSignal"] is not None
        tokens = [(player.id, player.name, player.token) for player in (ann, ben, cid)]
    async with open_world(database_url, tmp_path) as again:
        ann, ben, cid = (Player(again, *token) for token in tokens)
        assert again.service.of(MEMBERSHIPS).of(ben.id) == before["party"]["id"]
        assert settled(await ann.get(PARTY)) == before
        assert len((await cid.get(PARTY))["invites"]) == 1
        await _tells_what_was_missed(again, ann, first)
        assert (await ready(ben, is_ready=False))["party"]["revision"] == before["party"]["revision"] + 1


async def _tells_what_was_missed(world: World, ann: Player, first: Any) -> None:
    since = {"epoch": first["epoch"], "offset": first["offset"]}
    async with ann.live("/v1/social/live?channels=") as socket:
        reply, _ = await subscribe(socket, since)
        assert reply["recovered"] is True
        offsets = []
        while not offsets or offsets[-1] < reply["offset"]:
            event = await socket.receive_json()
            if event["offset"] is not None:
                offsets.append(event["offset"])
        assert offsets == list(range(first["offset"] + 1, reply["offset"] + 1))
        assert event["data"]["party"] == (await ann.get(PARTY))["party"]


async def test_ended_parties_are_forgotten(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await gather(ann)
    await ann.do("DELETE", PARTY)
    kept = await gather(ben)
    later_ms = world.clock.now_ms() + 3_600_001
    sweep = partial(sweep_ended, now_ms=later_ms)
    heads = "SELECT id FROM heads WHERE kind = 'party'"
    assert await world.service.database.transact(sweep, None, 100) is None
    (left,) = await world.service.database.read(lambda conn: conn.fetch(heads))
    assert left["id"] == kept
    assert (await ben.get(PARTY))["party"]["id"] == kept
