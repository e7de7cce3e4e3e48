"""Wire: parties over REST: who may do what, and what comes of it."""

from collections.abc import Callable
from typing import Any

import trio

from persistence.connection import Connection
from routes.friends.parts import FRIENDS_LIVE
from routes.service import Service
from tests.party.play import ARENA, INVITES, PARTY, READY, SELECTION, SELECTORS, gather, invite, names, ready
from tests.support.locks import crossed
from tests.support.world import Player, World


async def test_a_party_is_made_or_found(world: World) -> None:
    ann = await world.player("Ann")
    assert await ann.get(PARTY) == {"party": None, "invites": []}
    made = await ann.do("POST", PARTY, status=200)
    party = made["party"]
    assert (party["leaderId"], party["revision"], party["maxSize"]) == (ann.id, 1, 16)
    assert party["lobby"] == {
        "revision": 0, "selection": None, "selectorIds": [ann.id], "requirementHash": None, "launchSignal": None,
    }  # fmt: skip
    (member,) = party["members"]
    assert (member["playerId"], member["leader"], member["selector"]) == (ann.id, True, True)
    assert member["ready"] == {
        "ready": False, "profilePrepared": False, "profileId": None, "temporaryProfile": False,
        "requirementHash": None, "updatedAt": None,
    }  # fmt: skip
    assert await ann.do("POST", PARTY, status=200) == made
    assert await ann.get(PARTY) == made


async def test_many_who_make_a_party_at_once_get_the_same(world: World) -> None:
    ann = await world.player("Ann")
    made: set[str] = set()

    async def make() -> None:
        made.add((await ann.do("POST", PARTY, status=200))["party"]["id"])

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(make)
    assert len(made) == 1


async def test_an_invite_makes_the_party_and_is_accepted(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    sent = await invite(ann, ben)
    (out,) = sent["invites"]
    assert (out["direction"], out["senderId"], out["recipientId"]) == ("outgoing", ann.id, ben.id)
    assert (out["player"]["id"], out["player"]["online"]) == (ben.id, False)
    (own,) = (await ben.get(PARTY))["invites"]
    assert (own["direction"], own["senderName"], own["player"]["id"]) == ("incoming", "Ann", ann.id)
    (notice,) = (await ben.get("/v1/notifications"))["items"]
    assert (notice["kind"], notice["actorId"]) == ("party_invite", ann.id)
    assert notice["data"]["partyId"] == own["partyId"]
    # The same again changes nothing, and notifies nobody.
    assert (await invite(ann, ben))["party"]["revision"] == sent["party"]["revision"]
    assert len((await ben.get("/v1/notifications"))["items"]) == 1
    joined = await ben.do("POST", f"{INVITES}/{own['partyId']}/accept", status=200)
    assert (names(joined), joined["invites"]) == (["Ann", "Ben"], [])
    assert await ben.do("POST", f"{INVITES}/{own['partyId']}/accept", status=200) == joined
    assert (await ann.get(PARTY))["party"] == joined["party"]


async def test_an_invite_by_name(world: World) -> None:
    ann, _ben = await world.players("Ann", "Ben")
    sent = await ann.do("POST", INVITES, {"targetName": "ben"}, status=200)
    assert [one["player"]["name"] for one in sent["invites"]] == ["Ben"]
    await world.player("Ben")
    assert await ann.refused("POST", INVITES, {"targetName": "Ben"}) == (404, "NOT_FOUND")


async def test_who_cannot_be_invited(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await world.block(ben, ann)
    assert await ann.refused("POST", INVITES, {"targetId": ben.id}) == (403, "BLOCKED")
    assert await ben.refused("POST", INVITES, {"targetId": ann.id}) == (403, "BLOCKED")
    assert await ann.refused("POST", INVITES, {"targetId": ann.id}) == (422, "VALIDATION_FAILED")
    assert await ann.refused("POST", INVITES, {}) == (422, "VALIDATION_FAILED")
    stranger = "00000000-0000-4000-8000-000000000000"
    assert await ann.refused("POST", INVITES, {"targetId": stranger}) == (404, "NOT_FOUND")
    assert (await ann.get(PARTY))["party"] is None
    await gather(ann, cid)
    assert await ann.refused("POST", INVITES, {"targetId": cid.id}) == (409, "INVALID_STATE")
    assert await cid.refused("POST", INVITES, {"targetId": ben.id[:-1]}) == (422, "VALIDATION_FAILED")


async def test_accepting_leaves_the_party_one_was_in(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    old = await gather(ann, ben)
    new = await gather(cid)
    await invite(cid, ann)
    joined = await ann.do("POST", f"{INVITES}/{new}/accept", status=200)
    assert (joined["party"]["id"], names(joined)) == (new, ["Cid", "Ann"])
    left = await ben.get(PARTY)
    assert (left["party"]["id"], left["party"]["leaderId"]) == (old, ben.id)


async def test_who_accepts_while_another_party_takes_them_stays_there(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    first, second = await gather(ann), await gather(ben)
    await invite(ann, cid)

    async def join(conn: Connection) -> None:
        await conn.execute("INSERT INTO party_members VALUES ($1, $2, 0)", cid.id, second)

    async def nothing(_conn: Connection) -> None: ...

    async def accept() -> None:
        assert await cid.refused("POST", f"{INVITES}/{first}/accept") == (409, "INVALID_STATE")

    await crossed(world.service.database, join, nothing, accept)


async def test_two_parties_at_once(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    first, second = await gather(ann), await gather(ben)
    for _ in range(5):
        await invite(ann, cid)
        await invite(ben, cid)
        statuses: list[int] = []

        async def accept(party_id: str, into: list[int]) -> None:
            into.append((await cid.ask("POST", f"{INVITES}/{party_id}/accept")).status_code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(accept, first, statuses)
            nursery.start_soon(accept, second, statuses)
        assert set(statuses) <= {200, 409}
        parties = [await ann.get(PARTY), await ben.get(PARTY)]
        assert sum("Cid" in names(party) for party in parties) == 1
        mine = (await cid.get(PARTY))["party"]["id"]
        assert mine in (first, second)
        for one in (ann, ben):
            if (await one.get(PARTY))["party"]["id"] != mine:
                path = f"{INVITES}/{(await one.get(PARTY))['party']['id']}/{cid.id}"
                assert (await one.ask("DELETE", path)).status_code in (200, 404)
        await cid.do("POST", f"{PARTY}/leave", status=200)


async def test_declining_and_revoking(world: World) -> None:
    ann, ben, cid, dan = await world.players("Ann", "Ben", "Cid", "Dan")
    party_id = await gather(ann, ben)
    await invite(ben, cid)
    await invite(ann, dan)
    assert await cid.refused("DELETE", f"{INVITES}/{party_id}/{cid.id}") == (404, "NOT_FOUND")
    assert await ben.refused("DELETE", f"{INVITES}/{party_id}/{dan.id}") == (403, "NOT_LEADER")
    assert await ann.refused("POST", f"{INVITES}/{party_id}/decline") == (404, "NOT_FOUND")
    gone = await ann.do("DELETE", f"{INVITES}/{party_id}/{cid.id}", status=200)
    assert [one["recipientId"] for one in gone["invites"]] == [dan.id]
    assert await cid.refused("POST", f"{INVITES}/{party_id}/accept") == (404, "NOT_FOUND")
    assert (await dan.do("POST", f"{INVITES}/{party_id}/decline", status=200)) == {
        "party": None,
        "invites": [],
    }
    assert await dan.refused("POST", f"{INVITES}/{party_id}/decline") == (404, "NOT_FOUND")
    assert await ann.refused("DELETE", f"{INVITES}/{party_id}/{dan.id}") == (404, "NOT_FOUND")


async def test_an_invite_stands_for_ten_minutes(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    party_id = await gather(ann)
    await invite(ann, ben)
    world.clock.advance(10 * 60 * 1000)
    assert await ben.refused("POST", f"{INVITES}/{party_id}/accept") == (410, "INVITE_EXPIRED")
    assert await ben.refused("POST", f"{INVITES}/{party_id}/decline") == (410, "INVITE_EXPIRED")
    assert (await ben.get(PARTY))["invites"] == []


async def test_leaving_and_who_leads_then(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    assert await ann.do("POST", f"{PARTY}/leave", status=200) == {"party": None, "invites": []}
    party_id = await gather(ann, ben, cid)
    async with cid.live():
        left = await ann.do("POST", f"{PARTY}/leave", status=200)
        assert left == {"party": None, "invites": []}
        assert (await ben.get(PARTY))["party"]["leaderId"] == cid.id
        await cid.do("POST", f"{PARTY}/leave", status=200)
    alone = await ben.get(PARTY)
    assert (alone["party"]["leaderId"], names(alone)) == (ben.id, ["Ben"])
    assert (await ben.do("POST", f"{PARTY}/leave", status=200))["party"] is None
    assert await cid.refused("POST", f"{INVITES}/{party_id}/accept") == (404, "NOT_FOUND")


async def test_disbanding_takes_invites_along(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    party_id = await gather(ann, ben)
    await invite(ann, cid)
    assert await ben.refused("DELETE", PARTY) == (403, "NOT_LEADER")
    assert await cid.refused("DELETE", PARTY) == (404, "NOT_FOUND")
    assert await ann.do("DELETE", PARTY, status=200) == {"party": None, "invites": []}
    for one in (ann, ben, cid):
        assert await one.get(PARTY) == {"party": None, "invites": []}
    assert await cid.refused("POST", f"{INVITES}/{party_id}/accept") == (404, "NOT_FOUND")


async def test_kicking_and_handing_over(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await gather(ann, ben)
    leader = f"{PARTY}/leader"
    assert await ben.refused("PUT", leader, {"playerId": ben.id}) == (403, "NOT_LEADER")
    assert await ann.refused("PUT", leader, {"playerId": cid.id}) == (404, "NOT_FOUND")
    assert await ann.refused("PUT", leader, {"playerId": "x"}) == (422, "VALIDATION_FAILED")
    handed = await ann.do("PUT", leader, {"playerId": ben.id}, status=200)
    assert (handed["party"]["leaderId"], handed["party"]["lobby"]["selectorIds"]) == (ben.id, [ben.id])
    assert await ann.refused("DELETE", f"{PARTY}/members/{ben.id}") == (403, "NOT_LEADER")
    assert await ben.refused("DELETE", f"{PARTY}/members/{cid.id}") == (404, "NOT_FOUND")
    assert names(await ben.do("DELETE", f"{PARTY}/members/{ann.id}", status=200)) == ["Ben"]
    assert (await ann.get(PARTY))["party"] is None


async def test_a_party_has_sixteen_members(world: World) -> None:
    players = [await world.player(f"P{number}") for number in range(17)]
    party_id = await gather(*players[:15])
    await invite(players[0], players[15])
    await invite(players[0], players[16])
    await players[15].do("POST", f"{INVITES}/{party_id}/accept", status=200)
    assert await players[16].refused("POST", f"{INVITES}/{party_id}/accept") == (422, "QUOTA_EXCEEDED")


async def test_selectors_whom_the_leader_names_choose_what_is_played(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    assert await ann.refused("PUT", SELECTION, ARENA) == (404, "NOT_FOUND")
    await gather(ann, ben)
    assert await ben.refused("PUT", SELECTION, {}) == (403, "NOT_SELECTOR")
    assert await ben.refused("PUT", SELECTORS, {"selectorIds": [ben.id]}) == (403, "NOT_LEADER")
    assert await ann.refused("PUT", SELECTORS, {"selectorIds": [cid.id]}) == (422, "VALIDATION_FAILED")
    selectors = await ann.do("PUT", SELECTORS, {"selectorIds": [ben.id.upper()]}, status=200)
    assert selectors["party"]["lobby"]["selectorIds"] == [ann.id, ben.id]
    chosen = (await ben.do("PUT", SELECTION, ARENA, status=200))["party"]["lobby"]
    assert chosen["revision"] == 1
    requirement = chosen["selection"]["profileRequirement"]
    assert requirement == {
        "minecraftVersion": "1.21", "loader": "fabric", "recommendedProfileId": None,
        "recommendedProfileName": None, "recommendedProfileShareCode": None, "requiredMods": ["sodium"],
    }  # fmt: skip
    for broken in ({"targetKind": ""}, {"serverAddress": "javascript:alert(1)"}, {"targetId": None}):
        assert await ann.refused("PUT", SELECTION, {**ARENA, **broken}) == (422, "VALIDATION_FAILED")
    assert (await ann.get(PARTY))["party"]["lobby"] == chosen


async def test_a_party_gets_its_signal_once_when_all_are_ready(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await gather(ann, ben)
    lobby = (await ann.do("PUT", SELECTION, ARENA, status=200))["party"]["lobby"]
    hash_ = lobby["requirementHash"]
    body = {"ready": True, "profilePrepared": False}
    assert await ann.refused("PUT", READY, body) == (409, "NOT_PROFILE_PREPARED")
    body = {"ready": True, "profilePrepared": True, "requirementHash": "0" * 64}
    assert await ann.refused("PUT", READY, body) == (409, "REVISION_CONFLICT")
    one = await ready(ann, requirementHash=hash_, profileId="p1", temporaryProfile=True)
    assert one["party"]["lobby"]["launchSignal"] is None
    said = one["party"]["members"][0]["ready"]
    assert (said["ready"], said["profileId"], said["requirementHash"]) == (True, "p1", hash_)
    both = await ready(ben, requirementHash=hash_.upper())
    assert both["party"]["members"][1]["ready"]["requirementHash"] == hash_
    signal = both["party"]["lobby"]["launchSignal"]
    assert (signal["revision"], signal["memberIds"]) == (1, [ann.id, ben.id])
    assert signal["serverAddress"] == "play.example.org:25565"
    # The same word again is no other signal.
    assert (await ready(ben, requirementHash=hash_))["party"] == both["party"]
    assert (await ready(ben, is_ready=False))["party"]["lobby"]["launchSignal"] is None
    assert (await ready(ben))["party"]["lobby"]["launchSignal"]["id"] != signal["id"]
    again = (await ann.do("PUT", SELECTION, ARENA, status=200))["party"]
    assert (again["lobby"]["revision"], again["lobby"]["launchSignal"]) == (2, None)
    assert [member["ready"]["ready"] for member in again["members"]] == [False, False]


async def test_the_last_two_words_at_once_are_one_launch(world: World) -> None:
    players = [await world.player(f"P{number}") for number in range(8)]
    await gather(*players)
    for _ in range(3):
        await players[0].do("PUT", SELECTION, ARENA, status=200)
        signals: list[Any] = []

        async def say(player: Player, into: list[Any]) -> None:
            into.append((await ready(player))["party"]["lobby"]["launchSignal"])

        async with trio.open_nursery() as nursery:
            for player in players:
                nursery.start_soon(say, player, signals)
        assert len({signal["id"] for signal in signals if signal is not None}) == 1
        assert sum(signal is not None for signal in signals) == 1


async def test_a_repeated_request_is_done_once(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await gather(ann, ben)
    key = {"idempotency-key": "k1"}
    to_ben = {"playerId": ben.id}
    assert (await ben.ask("PUT", f"{PARTY}/leader", to_ben, headers=key)).json()["code"] == "NOT_LEADER"
    first = await ann.ask("PUT", SELECTION, ARENA, headers=key)
    again = await ann.ask("PUT", SELECTION, ARENA, headers=key)
    assert (again.json(), again.headers["idempotent-replayed"]) == (first.json(), "true")
    assert (await ann.get(PARTY))["party"]["lobby"]["revision"] == 1
    cid = await world.player("Cid")
    made = [await cid.ask("POST", PARTY, headers=key) for _ in range(2)]
    assert made[0].json() == made[1].json()
    # Whoever has handed the party over leads no longer, and is told again that it was done.
    given = [await ann.ask("PUT", f"{PARTY}/leader", to_ben, headers=key) for _ in range(2)]
    assert [response.status_code for response in given] == [200, 200], given[1].text
    assert (given[0].content, given[1].headers["idempotent-replayed"]) == (given[1].content, "true")
    assert await ann.refused("PUT", f"{PARTY}/leader", to_ben) == (403, "NOT_LEADER")


async def test_a_friend_shows_the_party(world: World) -> None:
    ann = await world.player("Ann")
    party_id = await gather(ann)

    def shows(party_id: str | None) -> Callable[[Service], bool]:
        return lambda service: service.of(FRIENDS_LIVE).appearance(ann.id, "").party_id == party_id

    await world.everywhere(shows(party_id))
    await ann.do("POST", f"{PARTY}/leave", status=200)
    await world.everywhere(shows(None))
