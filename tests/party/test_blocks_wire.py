"""Wire: a block takes back the invites into parties between the two, and nobody else's."""

from pathlib import Path
from typing import Any

import pytest
import trio

from actors.friends.between import seen_between
from persistence.connection import Connection
from persistence.friends import blocks
from persistence.party import rows
from routes.changes import announce, reconcile
from routes.party.reactions import InvitesBetween
from tests.party.play import INVITES, PARTY, gather, invite
from tests.support.jobs import job_named
from tests.support.waiting import wait_until
from tests.support.world import Player, World, open_world

BLOCKS = "/v1/social/friends/blocks"


async def invited(player: Player) -> list[tuple[str, str]]:
    """Who invites whom, as the player sees it, in the order of sending."""
    shown = await player.get(PARTY)
    return [(one["senderName"], one["direction"]) for one in shown["invites"]]


async def until_uninvited(player: Player) -> None:
    """Wait until no node shows the player an invite: what no request has caused, the others hear of in a moment."""

    async def nowhere() -> bool:
        return not any([await invited(player) for _ in player.world.services])  # each asks the next node

    await wait_until(nowhere)


async def block(one: Player, other: Player) -> None:
    await one.do("POST", BLOCKS, {"targetId": other.id}, status=201)


async def block_untold(world: World, one: Player, other: Player) -> None:
    """A block in rows, of which nobody has heard."""
    await world.service.database.transact(
        lambda conn: blocks.put(conn, one.id, other.id, reason=None, now_ms=world.clock.now_ms())
    )


async def shown_without_invites(socket: Any) -> Any:
    while (frame := await socket.receive_json())["invites"]:
        pass
    return frame


@pytest.mark.parametrize("blocker", ["sender", "invitee"])
async def test_a_block_takes_back_an_invite(world: World, blocker: str) -> None:
    ann, ben = await world.players("Ann", "Ben")
    party_id = await gather(ann)
    await invite(ann, ben)
    async with ann.live(f"{PARTY}/live") as anns, ben.live(f"{PARTY}/live") as bens:
        assert len((await anns.receive_json())["invites"]) == len((await bens.receive_json())["invites"]) == 1
        await block(*((ann, ben) if blocker == "sender" else (ben, ann)))
        assert (await invited(ann), await invited(ben)) == ([], [])
        assert (await shown_without_invites(bens))["party"] is None
        # It is a revision of the party, as when the sender takes it back.
        assert (await shown_without_invites(anns))["party"]["revision"] == 3
    assert await ben.refused("POST", f"{INVITES}/{party_id}/accept") == (404, "NOT_FOUND")


async def test_a_block_takes_back_nobody_elses_invite(world: World) -> None:
    ann, ben, cid, dan = await world.players("Ann", "Ben", "Cid", "Dan")
    await gather(ann, ben)
    await invite(ann, cid)
    await invite(ben, dan)
    await gather(cid)
    await invite(cid, dan)
    await block(dan, ann)
    await block(ann, ben)
    assert await invited(dan) == [("Ben", "incoming"), ("Cid", "incoming")]
    assert await invited(cid) == [("Ann", "incoming"), ("Cid", "outgoing")]
    # Of whom has left the party as well.
    await ben.do("POST", f"{PARTY}/leave")
    await block(dan, ben)
    assert await invited(dan) == [("Cid", "incoming")]
    assert await invited(ann) == [("Ann", "outgoing")]


async def test_a_block_heard_of_late_or_twice_takes_back_nothing_more(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await gather(ann)
    await world.block(ann, ben)
    told = await world.service.database.transact(seen_between, ann.id, ben.id)
    await world.block(ann, ben, blocked=False)
    revision = (await invite(ann, ben))["party"]["revision"]
    await announce(world.service, told)
    assert await invited(ben) == [("Ann", "incoming")]
    await world.block(ben, ann)
    for _ in range(2):
        await announce(world.service, told)
    await until_uninvited(ben)
    assert (await ann.get(PARTY))["party"]["revision"] == revision + 1


async def test_a_party_that_could_not_be_asked_is_asked_again(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await gather(ann)
    await invite(ann, ben)
    await block_untold(world, ben, ann)
    world.service.reconciler.add(InvitesBetween(min(ann.id, ben.id), max(ann.id, ben.id)))
    await reconcile(world.service)
    await until_uninvited(ben)


async def test_of_a_block_and_an_invite_at_once_the_block_remains(world: World) -> None:
    ann = await world.player("Ann")
    await gather(ann)
    for other in await world.players(*[f"Ben{number}" for number in range(8)]):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ann.ask, "POST", INVITES, {"targetId": other.id})
            nursery.start_soon(block, other, ann)
        assert await invited(other) == []
    assert await invited(ann) == []


async def test_an_invite_is_no_good_before_it_is_taken_back(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    party_id = await gather(ann)
    await invite(ann, ben)
    own = await gather(ben, cid)
    await block_untold(world, ann, ben)
    assert await ben.refused("POST", f"{INVITES}/{party_id}/accept") == (403, "BLOCKED")
    assert (await ben.get(PARTY))["party"]["id"] == own


async def test_a_party_at_fault_holds_up_no_other(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path) as world:
        ann, ben = await world.players("Ann", "Ben")
        for one, other in ((ann, ben), (ben, ann)):
            await gather(one)
            await invite(one, other)
    async with open_world(database_url, tmp_path) as world:
        ann, ben = (Player(world, one.id, one.name, one.token) for one in (ann, ben))
        broken, sound = await world.service.database.read(rows.inviting_between, ann.id, ben.id)
        await world.service.database.transact(_break, broken)
        await block(ann, ben)
        assert await world.service.database.read(rows.invites_of, sound) == []
        assert len(world.service.reconciler) == 1, "it is asked again"


async def _break(conn: Connection, party_id: str) -> None:
    await conn.execute("UPDATE heads SET summary = '?' WHERE kind = 'party' AND id = $1", party_id)
    await conn.execute("DELETE FROM snapshots WHERE kind = 'party' AND id = $1", party_id)


async def test_what_a_node_that_has_ended_left_is_taken_back(world: World) -> None:
    """It had committed the block, and asked no party."""
    ann, ben, cid, dan = await world.players("Ann", "Ben", "Cid", "Dan")
    await gather(ann)
    await gather(cid)
    await invite(ann, ben)
    await invite(cid, dan)
    await block_untold(world, ben, ann)
    await job_named(world, "invites across blocks").run()
    await until_uninvited(ben)
    assert await invited(dan) == [("Cid", "incoming")]
