"""Wire: users who have parties of their own accept invites at the same moment; who is refused keeps theirs."""

from functools import partial

import pytest
import trio

from actors.party.commands import Expect
from routes.party.parts import PARTY_KINDS
from tests.party.play import INVITES, PARTY, accept_at_once, end_in_one, gather, in_a_circle, invite
from tests.support.world import World


async def test_two_who_have_invited_each_other_end_in_one_party(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    for _ in range(5):
        await end_in_one(ann, ben)


async def test_three_who_join_each_other_in_a_circle_lose_no_party(world: World) -> None:
    people = await world.players("Ann", "Ben", "Cid")
    for _ in range(5):
        await in_a_circle({one: await gather(one) for one in people})


async def test_the_only_member_of_a_party_that_somebody_is_joining_stays_and_is_expected_nowhere(
    world: World,
) -> None:
    """As on several nodes, where another one decides on whoever is joining."""
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    hers, his, theirs = [await gather(one) for one in (ann, ben, cid)]
    for host, guest in ((ann, cid), (ben, ann), (cid, ben)):
        await invite(host, guest)
    home = world.home("party", hers)
    await home.system.ask(home.of(PARTY_KINDS).party, hers, Expect(cid.id))
    assert await ann.refused("POST", f"{INVITES}/{his}/accept") == (409, "INVALID_STATE")
    assert (await ann.get(PARTY))["party"]["id"] == hers
    joined = await ben.do("POST", f"{INVITES}/{theirs}/accept", status=200)
    assert joined["party"]["id"] == theirs


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
