"""Wire: users who have parties of their own accept invites at the same moment; who is refused keeps theirs."""

from functools import partial

import pytest
import trio

from tests.party.play import INVITES, PARTY, accept_at_once, end_in_one, gather, invite
from tests.support.world import World


async def test_two_who_have_invited_each_other_end_in_one_party(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    for _ in range(5):
        await end_in_one(ann, ben)


async def test_who_comes_too_late_for_the_last_seat_stays_where_they_were(world: World) -> None:
    host, *guests = await world.players(*(f"P{number}" for number in range(15)))
    ann, ben = await world.players("Ann", "Ben")
    full = await gather(host, *guests)
    own = {ann: await gather(ann), ben: await gather(ben)}
    for player in own:
        await invite(host, player)
    statuses = await accept_at_once(dict.fromkeys(own, full))
    assert sorted(statuses.values()) == [200, 422]
    for player, party_id in own.items():
        expected = full if statuses[player] == 200 else party_id
        assert (await player.get(PARTY))["party"]["id"] == expected


@pytest.mark.parametrize(("method", "path"), [("POST", f"{PARTY}/leave"), ("DELETE", PARTY)])
async def test_whoever_accepts_while_the_party_ends_is_refused_with_their_own_or_joins(
    world: World, method: str, path: str
) -> None:
    host, ann = await world.players("Host", "Ann")
    for _ in range(5):
        party_id, own = await gather(host), await gather(ann)
        await invite(host, ann)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(host.do, method, path, status=200))
            accepted = (await accept_at_once({ann: party_id}))[ann]
        joined = None if path == PARTY else party_id
        party = (await ann.get(PARTY))["party"]
        assert (accepted, party and party["id"]) in ((200, joined), (404, own))
        await ann.do("POST", f"{PARTY}/leave", status=200)


async def test_whoever_accepts_an_invite_while_it_is_taken_back_joins_or_keeps_their_own(
    world: World,
) -> None:
    host, ann = await world.players("Host", "Ann")
    for _ in range(5):
        party_id, own = await gather(host), await gather(ann)
        await invite(host, ann)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(host.ask, "DELETE", f"{INVITES}/{party_id}/{ann.id}"))
            accepted = (await accept_at_once({ann: party_id}))[ann]
        party = (await ann.get(PARTY))["party"]
        assert (accepted, party and party["id"]) in ((200, party_id), (404, own))
        for player in (host, ann):
            await player.do("POST", f"{PARTY}/leave", status=200)
