"""Wire: a user's party live, as a stream and as a channel: what is shown, in which order, and after a loss."""

from typing import Any

import pytest
import trio

from actors.party.own_view import FACES
from persistence.connection import Connection
from routes.party.parts import PARTY_KINDS
from routes.users.parts import PRESENCE
from tests.friends.play import BLOCKS, FRIENDS, make_friends
from tests.party.play import ARENA, INVITES, PARTY, SELECTION, gather, invite, names, ready, subscribe
from tests.support.spec import spec
from tests.support.turns import GATE, open_gate
from tests.support.waiting import wait_until
from tests.support.websocket import Client
from tests.support.world import Player, World

LIVE = f"{PARTY}/live"
QUIET_SECONDS = 0.4


async def frame(socket: Client) -> Any:
    received = await socket.receive_json()
    spec().check_frame("PartySnapshot", received)
    return received


async def until(socket: Client, wanted: Any) -> Any:
    """The first frame of which this is true."""
    while not wanted(received := await frame(socket)):
        pass
    return received


async def assert_quiet(socket: Client) -> None:
    with pytest.raises(trio.TooSlowError):
        await socket.receive_text(patience_seconds=QUIET_SECONDS)


def let_pass(world: World, ms: int, viewer: Player) -> None:
    """Let time pass, and have the timers notice it, who sleep by a clock of their own: a frame is due at once."""
    world.advance(ms)
    for service in world.services:
        service.system.changed(service.of(PARTY_KINDS).own, viewer.id, FACES)


async def test_a_user_is_followed_from_party_to_party(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    first = await gather(ann)
    async with ben.live(LIVE) as socket:
        assert await frame(socket) == {"party": None, "invites": []}
        await invite(ann, ben)
        (invited,) = (await frame(socket))["invites"]
        assert (invited["partyId"], invited["direction"]) == (first, "incoming")
        await ben.do("POST", f"{INVITES}/{first}/accept")
        joined = await until(socket, lambda shown: shown["party"])
        assert (names(joined), joined["invites"]) == (["Ann", "Ben"], [])
        await ann.do("PUT", SELECTION, ARENA)
        chosen = await until(socket, lambda shown: shown["party"]["lobby"]["revision"] == 1)
        assert chosen == await ben.get(PARTY)
        second = await gather(cid)
        await invite(cid, ben)
        await until(socket, lambda shown: [one["partyId"] for one in shown["invites"]] == [second])
        await ben.do("POST", f"{INVITES}/{second}/accept")
        moved = await until(socket, lambda shown: shown["party"] and shown["party"]["id"] == second)
        assert moved["invites"] == []
        await cid.do("DELETE", PARTY)
        assert await until(socket, lambda shown: shown["party"] is None) == {"party": None, "invites": []}
        # What changes nothing sends nothing.
        await ben.do("POST", f"{PARTY}/leave")
        await assert_quiet(socket)


async def test_a_new_party_is_shown_to_its_founder(world: World) -> None:
    ann = await world.player("Ann")
    async with ann.live(LIVE) as socket:
        await frame(socket)
        made = await ann.do("POST", PARTY)
        assert await frame(socket) == made


async def test_an_invite_lapses_before_the_invitees_eyes(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    async with ben.live(LIVE) as socket, ann.live(LIVE) as anns:
        await frame(socket)
        await invite(ann, ben)
        await until(socket, lambda shown: shown["invites"])
        await until(anns, lambda shown: shown["invites"])
        let_pass(world, 10 * 60 * 1000, ann)
        await until(socket, lambda shown: not shown["invites"])
        await until(anns, lambda shown: not shown["invites"])


async def test_presence_is_shown_unless_it_is_hidden(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await gather(ann, ben, cid)
    await make_friends(ben, cid)
    await ben.do("PATCH", f"{FRIENDS}/{cid.id}", {"visibility": "HIDDEN"})

    def online(shown: Any) -> list[str]:
        return [member["name"] for member in shown["party"]["members"] if member["online"]]

    async with ann.live(LIVE) as anns, cid.live(LIVE) as cids:
        await until(anns, lambda shown: online(shown) == ["Ann", "Cid"])
        await until(cids, lambda shown: online(shown) == ["Ann", "Cid"])
        async with ben.live(LIVE):
            await until(anns, lambda shown: online(shown) == ["Ann", "Ben", "Cid"])
            await assert_quiet(cids)
            assert online(await cid.get(PARTY)) == ["Ann", "Cid"]
            await ben.do("PATCH", f"{FRIENDS}/{cid.id}", {"visibility": "DEFAULT"})
            await until(cids, lambda shown: online(shown) == ["Ann", "Ben", "Cid"])


async def test_what_changes_nobodys_looks_is_not_told(world: World) -> None:
    """A frame that is equal to the one before tells its viewer that a member hides from them, or blocks them."""
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await gather(ann, ben, cid)
    await make_friends(ben, cid)
    async with cid.live(LIVE) as socket, ann.live(LIVE):
        await until(
            socket, lambda shown: len([one for one in shown["party"]["members"] if one["online"]]) == 2
        )
        for visibility in ("HIDDEN", "DEFAULT", "HIDDEN"):
            await ben.do("PATCH", f"{FRIENDS}/{cid.id}", {"visibility": visibility})
        await assert_quiet(socket)
        async with ben.live(LIVE) as bens:
            await until(bens, lambda shown: shown["party"]["members"][1]["online"])
            await ben.do("POST", BLOCKS, {"targetId": cid.id})
            await assert_quiet(socket)


async def test_what_was_shown_already_is_not_told_again(world: World, database_url: str) -> None:
    """Somebody comes while the view is read whose first frame shows them: with several nodes they may have come before,
    and be heard of then."""
    ann, ben = await world.players("Ann", "Ben")
    await gather(ann, ben)
    async with open_gate(database_url) as gate, trio.open_nursery() as nursery:
        await gate.close()
        nursery.start_soon(world.service.database.transact, _hold_parties)
        await gate.wait_for_arrival()
        async with ann.live(LIVE) as socket, ben.live("/v1/social/live?channels="):
            await world.everywhere(lambda service: service.of(PRESENCE).statistics() == 2)
            await gate.open()
            assert [one["online"] for one in (await frame(socket))["party"]["members"]] == [True, True]
            await assert_quiet(socket)


async def _hold_parties(conn: Connection) -> None:
    await conn.execute("LOCK TABLE party_members IN ACCESS EXCLUSIVE MODE")
    await conn.execute("SELECT pg_advisory_xact_lock($1)", GATE)


async def test_what_passes_outside_the_party_is_not_told(world: World) -> None:
    ann, ben, cid, dan = await world.players("Ann", "Ben", "Cid", "Dan")
    await gather(ann, ben)
    async with ann.live(LIVE) as socket:
        await until(
            socket, lambda shown: [one["online"] for one in shown["party"]["members"]] == [True, False]
        )
        await make_friends(cid, ann)
        await cid.do("PATCH", f"{FRIENDS}/{ann.id}", {"visibility": "HIDDEN"})
        await dan.do("POST", BLOCKS, {"targetId": ann.id})
        await assert_quiet(socket)
        async with ben.live(LIVE):
            await until(socket, lambda shown: shown["party"]["members"][1]["online"])
            await ben.do("POST", BLOCKS, {"targetId": ann.id})
            await until(socket, lambda shown: not shown["party"]["members"][1]["online"])


async def test_a_rename_is_shown(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await gather(ann, ben)
    async with ann.live(LIVE) as socket:
        await frame(socket)
        renamed = Player(world, ben.id, "Benno", world.token(ben.id, "Benno"))
        await renamed.get("/v1/auth/verify")
        await until(socket, lambda shown: names(shown) == ["Ann", "Benno"])


async def test_a_rename_is_shown_in_invites(world: World) -> None:
    """To who is invited, of who has invited; and to the members, of who is invited."""
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await gather(ann, ben)
    await invite(ann, cid)
    async with ben.live(LIVE) as member, cid.live(LIVE) as invited:
        for socket, wanted in ((member, ("Ann", "Cid")), (invited, ("Ann", "Ann"))):
            (one,) = (await frame(socket))["invites"]
            assert (one["senderName"], one["player"]["name"]) == wanted
        await Player(world, ann.id, "Anna", world.token(ann.id, "Anna")).get("/v1/auth/verify")
        await until(invited, lambda shown: shown["invites"][0]["senderName"] == "Anna")
        await Player(world, cid.id, "Cido", world.token(cid.id, "Cido")).get("/v1/auth/verify")
        told = await until(member, lambda shown: shown["invites"][0]["player"]["name"] == "Cido")
        assert told["invites"][0]["senderName"] == "Anna"


async def test_no_revision_is_skipped_and_none_comes_twice(world: World) -> None:
    players = [await world.player(f"P{number}") for number in range(8)]
    await gather(*players)
    async with players[0].live("/v1/social/live?channels=") as deltas, players[1].live(LIVE) as snapshots:
        _, first = await subscribe(deltas)
        spec().check_frame("PartySnapshot", first["data"])
        seen = [(await frame(snapshots))["party"]["revision"]]
        for round_ in range(4):
            await players[0].do("PUT", SELECTION, {**ARENA, "displayName": str(round_)})
            async with trio.open_nursery() as nursery:
                for player in players:
                    nursery.start_soon(ready, player)
        last = (await players[0].get(PARTY))["party"]
        revision = first["data"]["party"]["revision"]
        assert (first["offset"], last["revision"]) == (revision, revision + 36)
        while revision < last["revision"]:
            event = await deltas.receive_json()
            spec().check_frame("PartySnapshot", event["data"])
            if event["offset"] is None:
                continue
            revision += 1
            assert (event["event"], event["offset"]) == ("party_updated", revision)
            assert (event["epoch"], event["data"]["party"]["revision"]) == (first["epoch"], revision)
            party = event["data"]["party"]
            everybody = all(member["ready"]["ready"] for member in party["members"])
            assert (party["lobby"]["launchSignal"] is not None) == everybody
        assert event["data"]["party"] == last
        while seen[-1] < last["revision"]:
            seen.append((await frame(snapshots))["party"]["revision"])
        assert seen == sorted(seen)


async def test_what_was_missed_is_told_again(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await gather(ann, ben)
    async with ann.live("/v1/social/live?channels=") as socket:
        _, first = await subscribe(socket)
    since = {"epoch": first["epoch"], "offset": first["offset"]}
    for number in range(40):  # more than a live party remembers
        await ann.do("PUT", SELECTION, {**ARENA, "displayName": str(number)})
    async with ann.live("/v1/social/live?channels=") as socket:
        reply, _ = await subscribe(socket, since)
        assert (reply["recovered"], reply["offset"]) == (True, first["offset"] + 40)
        for number in range(40):
            event = await socket.receive_json()
            assert (event["event"], event["offset"]) == ("party_updated", first["offset"] + 1 + number)
            assert event["data"]["party"]["lobby"]["selection"]["displayName"] == str(number)
        assert event["data"]["party"]["members"] == (await ann.get(PARTY))["party"]["members"]
    now = {"epoch": first["epoch"], "offset": event["offset"]}
    async with ann.live("/v1/social/live?channels=") as socket:
        assert (await subscribe(socket, now))[0]["recovered"] is True
    # An invite that came meanwhile is part of what is shown: the client takes a snapshot.
    cid = await world.player("Cid")
    await invite(cid, ann)
    async with ann.live("/v1/social/live?channels=") as socket:
        reply, snapshot = await subscribe(socket, now)
        assert (reply["recovered"], len(snapshot["data"]["invites"])) == (False, 1)


async def test_the_party_is_a_default_channel(world: World) -> None:
    ann = await world.player("Ann")
    async with ann.live() as socket:
        channels = {(await socket.receive_json()).get("channel") for _ in range(4)}
    assert channels == {None, "friends", "party", "inbox"}


async def test_who_is_away_for_ten_minutes_is_removed(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await gather(ann, ben, cid)
    async with ben.live(LIVE) as socket:
        await frame(socket)
        async with ann.live(LIVE):
            await until(socket, lambda shown: shown["party"]["members"][0]["online"])

        await world.everywhere(lambda service: service.of(PRESENCE).statistics() == 1)
        world.clock.advance(11_000)
        await until(socket, lambda shown: not shown["party"]["members"][0]["online"])
        assert names(await ben.get(PARTY)) == ["Ann", "Ben", "Cid"]
        id = (await ben.get(PARTY))["party"]["id"]
        service = world.home("party", id)

        async def told_away() -> bool:
            state = service.system.peek(service.of(PARTY_KINDS).party, id)
            return all(state.members[one.id].offline_since_ms is not None for one in (ann, cid))

        await wait_until(told_away)  # Cid, who was never here, is found by the next look
        let_pass(world, 10 * 60 * 1000, ben)
        left = await until(socket, lambda shown: len(shown["party"]["members"]) == 1)
        assert (names(left), left["party"]["leaderId"]) == (["Ben"], ben.id)
        assert (await ann.get(PARTY))["party"] is None


async def test_who_was_away_before_they_joined_stays_for_ten_minutes(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    async with ben.live(LIVE) as socket:
        await frame(socket)
        async with ann.live(LIVE) as own:
            await frame(own)
        await world.everywhere(lambda service: service.of(PRESENCE).statistics() == 1)
        world.clock.advance(30 * 60 * 1000)
        await world.everywhere(lambda service: not service.of(PRESENCE).is_online(ann.id))
        await invite(ann, ben)  # by requests alone, or as a game server does for them
        id = (await ann.get(PARTY))["party"]["id"]
        await ben.do("POST", f"{INVITES}/{id}/accept")
        service = world.home("party", id)

        async def told_away() -> bool:
            state = service.system.peek(service.of(PARTY_KINDS).party, id)
            return state.members[ann.id].offline_since_ms is not None

        await wait_until(told_away)
        let_pass(world, 9 * 60 * 1000, ben)
        assert names(await ben.get(PARTY)) == ["Ann", "Ben"]
        let_pass(world, 60 * 1000, ben)
        await until(socket, lambda shown: shown["party"] and len(shown["party"]["members"]) == 1)
        assert names(await ben.get(PARTY)) == ["Ben"]
