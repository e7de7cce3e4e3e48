"""Parties over a game server: the same as by the players' own requests; and look-ups tell of nobody else."""

from tests.connect.play import claimed
from tests.friends.play import make_friends
from tests.party.play import gather
from tests.support.world import World

PARTY = "/v1/social/party/server"


async def test_a_party_over_a_server(world: World):
    owner, ann, bob, eve = await world.players("Owner", "Ann", "Bob", "Eve")
    server = await claimed(world, owner)
    await server.seat(ann)
    await server.seat(bob)
    for_ann, for_bob = {"actorId": ann.id}, {"actorId": bob.id}
    made = await server.do("POST", PARTY, for_ann, status=200)
    party_id = made["party"]["id"]
    again = await server.do("POST", PARTY, for_ann, status=200)
    assert again["party"]["id"] == party_id
    await server.do("POST", f"{PARTY}/invites", {**for_ann, "targetId": bob.id}, status=200)
    joined = await server.do("POST", f"{PARTY}/invites/{party_id}/accept", for_bob, status=200)
    assert {one["playerId"] for one in joined["party"]["members"]} == {ann.id, bob.id}
    assert (await server.do("POST", f"{PARTY}/overview", for_bob, status=200))["party"] == joined["party"]
    assert (await bob.get("/v1/social/party"))["party"]["id"] == party_id
    found = await server.do("POST", f"{PARTY}/lookup", {"playerIds": [ann.id, bob.id, eve.id]}, status=200)
    assert {(one["playerId"], one["partyId"], one["leader"]) for one in found["memberships"]} == {
        (ann.id, party_id, True),
        (bob.id, party_id, False),
    }
    assert [one["id"] for one in found["parties"]] == [party_id]
    assert await server.refused("DELETE", PARTY, for_bob) == (403, "NOT_LEADER")
    left = await server.do("POST", f"{PARTY}/leave", for_bob, status=200)
    assert left["party"] is None
    await server.do("POST", f"{PARTY}/invites", {**for_ann, "targetName": "bob"}, status=200)
    declined = await server.do("POST", f"{PARTY}/invites/{party_id}/decline", for_bob, status=200)
    assert declined["invites"] == []
    assert (await server.do("DELETE", PARTY, for_ann, status=200))["party"] is None


async def test_look_ups_are_bounded_and_tell_of_nobody_else(world: World):
    owner, ann = await world.players("Owner", "Ann")
    server = await claimed(world, owner)
    await ann.do("POST", "/v1/social/party")
    path = f"{PARTY}/lookup"
    assert await server.do("POST", path, {"playerIds": [ann.id]}, status=200) == {
        "memberships": [],
        "parties": [],
    }
    await server.seat(ann)
    found = await server.do("POST", path, {"playerIds": [ann.id, ann.id.upper()]}, status=200)
    assert [one["playerId"] for one in found["memberships"]] == [ann.id]
    await server.do("POST", path, {"playerIds": [ann.id] * 100}, status=200)
    assert (await server.refused("POST", path, {"playerIds": [ann.id] * 101}))[0] == 422
    response = await server.ask("POST", path, {"playerIds": [ann.id, "x", ann.id, ""]})
    flaws = [(one["pointer"], one["code"]) for one in response.json()["errors"]]
    assert flaws == [("/playerIds/1", "BAD_FORMAT"), ("/playerIds/3", "BAD_FORMAT")]
    silent = await server.delegated("server.status.write")
    assert await silent.refused("POST", path, {"playerIds": []}) == (403, "FORBIDDEN")


async def test_a_look_up_tells_the_owner_of_nobody_who_hides_from_them(world: World):
    owner, ann, bob, cid = await world.players("Owner", "Ann", "Bob", "Cid")
    server = await claimed(world, owner)
    await server.seat(ann)
    await gather(ann, bob, cid)
    await make_friends(bob, owner)
    await bob.do("PATCH", f"/v1/social/friends/{owner.id}", {"visibility": "HIDDEN"})
    await cid.do("POST", "/v1/social/friends/blocks", {"targetId": owner.id}, status=201)
    live = "/v1/social/live?channels="
    async with ann.live(live) as one, bob.live(live) as two, cid.live(live) as three:
        for socket in (one, two, three):
            await socket.receive_until(type="hello")
        found = await server.do("POST", f"{PARTY}/lookup", {"playerIds": [ann.id]}, status=200)
        shown = {member["name"]: member["online"] for member in found["parties"][0]["members"]}
    assert shown == {"Ann": True, "Bob": False, "Cid": False}
