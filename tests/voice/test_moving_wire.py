"""Wire: channels move from nodes that are silent, gone or full of others, and nobody is lost by it."""

from pathlib import Path
from typing import Any

import jwt
import pytest

from actors.time import parse_iso
from actors.voice.commands import MoveTo
from actors.voice.fleet import SILENCE_MS, Fleet
from actors.voice.state import EMPTY_MS, RENEWED_MS, SESSION_MS
from persistence.errors import OutcomeUnknown
from persistence.voice.nodes import NodeRow
from routes.voice import moving
from routes.voice.jobs import end_doomed, look
from routes.voice.orders import GRACE_MS
from routes.voice.parts import ATTENDANCE, FLEET, VOICE_KINDS
from routes.voice.placing import kept_for
from tests.support.refusing import refuse
from tests.support.waiting import wait_until
from tests.support.websocket import Client
from tests.support.world import Player, World, open_world
from tests.voice.play import VOICE, VoiceNode, join, minding, node, node_server, private, sync

TWO = "ws://voice2.example.net:7880"


async def moved(socket: Client, url: str) -> Any:
    """The session of a `migrate` to this address, which comes before the channel there."""
    while (told := await socket.receive_json())["type"] != "migrate":
        assert told["type"] == "voice_snapshot"
    assert told["session"]["url"] == url
    shown = await socket.receive_json()
    assert shown["session"] == told["session"]
    return told["session"]


async def test_a_silent_node_loses_its_channels_and_comes_back_without_them(world: World) -> None:
    server = await node_server(world)
    one, two = await node(world, server), await node(world, server, publicUrl=TWO, region="eu-north")
    ann, ben = await world.players("Ann", "Ben")
    channel_id = await private(ann, ben, region="eu-west")
    async with ann.live(f"{VOICE}/live") as socket:
        joined = await join(ann, channel_id)
        assert joined["channel"]["nodeId"] == one.id
        world.advance(SILENCE_MS)
        await two.beat()
        await look(minding(world))
        session = await moved(socket, TWO)
    jwt.decode(session["token"], two.secret, algorithms=["HS256"], options={"verify_nbf": False})
    assert (await sync(ann, joined))["session"] == session
    regions = {region["region"]: region for region in (await ann.get(f"{VOICE}/regions"))["items"]}
    assert (regions["eu-west"]["healthy"], regions["eu-north"]["participants"]) == (False, 1)
    # It comes back: its room is closed, and the channel stays where it is.
    rooms = [{"channelId": channel_id, "participants": [ann.id]}]
    assert await one.beat(rooms=rooms) == [], "whose users may still be on their way"
    world.advance(GRACE_MS)
    assert [told["kind"] for told in await one.beat(rooms=rooms)] == ["close"]
    await look(minding(world))
    assert (await sync(ann, joined))["channel"]["nodeId"] == two.id


async def test_a_node_that_is_removed_loses_them_as_soon_as_there_is_another(world: World) -> None:
    server = await node_server(world)
    one = await node(world, server)
    ann, ben = await world.players("Ann", "Ben")
    async with ann.live(f"{VOICE}/live") as socket:
        joined = await join(ann, await private(ann, ben))
        while (await socket.receive_json())["session"] is None:
            pass
        await server.do("DELETE", one.path, status=204)
        shown = await socket.receive_json()
        assert (shown["channel"]["nodeId"], shown["session"]) == (None, None)
        await look(minding(world))
        assert "session" not in await sync(ann, joined)
        body = {"channelId": joined["channel"]["id"]}
        assert await ben.refused("POST", f"{VOICE}/session/join", body) == (503, "UPSTREAM_UNAVAILABLE")
        await node(world, server, publicUrl=TWO)
        await look(minding(world))
        await moved(socket, TWO)


async def test_channels_of_a_node_that_is_removed_stay_in_its_region(world: World) -> None:
    server = await node_server(world)
    one = await node(world, server, region="eu-north")
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    joined, other = await join(ann, await private(ann, ben)), await private(ben, cid)
    await node(world, server, capacity=1_000)
    near = await node(world, server, region="eu-north")
    await server.do("DELETE", one.path, status=204)
    assert (await join(cid, other))["channel"]["nodeId"] == near.id
    await look(minding(world))
    assert (await sync(ann, joined))["channel"]["nodeId"] == near.id


async def test_regions_of_the_nodes_that_went_last_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.voice.fleet.REMEMBERED", 2)
    rows = [
        NodeRow(f"{number:024}", "server", f"eu-{number}", TWO, 10, "partyline", b"", None, None, False, 0, 0)
        for number in range(3)
    ]
    fleet = Fleet(rows, lambda: 0, lambda: "e")
    for row in rows:
        assert fleet.region_of(row.node_id) == row.region
        fleet.remove(row.node_id)
    assert [fleet.region_of(row.node_id) for row in rows] == [None, "eu-1", "eu-2"]
    assert fleet.region_of(None) is None


async def test_a_channel_that_cannot_move_holds_up_no_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "AT_ONCE", 1)
    server = await node_server(world)
    one = await node(world, server)
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    for player in (ann, ben):
        await join(player, await private(player, cid))
    service = minding(world)
    first, second = [state.id for state in service.of(ATTENDANCE) if state.sessions]
    await refuse(world, "UPDATE ON heads", f"OLD.id = '{first}'")
    two = await node(world, server, publicUrl=TWO)
    await server.do("DELETE", one.path, status=204)
    for _ in range(2):
        await look(service)
    found = [service.of(ATTENDANCE).state(id) for id in (first, second)]
    assert [state and state.node_id for state in found] == [one.id, two.id]


async def test_a_channel_does_not_move_with_more_than_have_a_seat(world: World) -> None:
    server = await node_server(world)
    one, two = await node(world, server), await node(world, server)
    ann, ben = await world.players("Ann", "Ben")
    first = await join(ann, await private(ann, ben))
    here, there = (one.id, two.id) if first["channel"]["nodeId"] == one.id else (two.id, one.id)
    await join(ben, first["channel"]["id"])
    channel = minding(world).of(VOICE_KINDS).channel
    for user_ids, node_id in (((ann.id,), here), ((ann.id, ben.id), there)):
        state = await minding(world).system.ask(
            channel, first["channel"]["id"], MoveTo(here, there, user_ids)
        )
        assert state.node_id == node_id
    assert minding(world).of(ATTENDANCE).seats.taken(there) == 2


async def test_a_join_finds_another_node_if_it_has_room_for_all(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The job would move the channel with Ann alone to the node where there is no room for both.
    monkeypatch.setattr(moving, "AT_ONCE", 0)
    server = await node_server(world)
    one = await node(world, server)
    ann, ben = await world.players("Ann", "Ben")
    channel_id = (await join(ann, await private(ann, ben)))["channel"]["id"]
    body = {"channelId": channel_id}
    await node(world, server, publicUrl=TWO, capacity=1)
    await server.do("DELETE", one.path, status=204)
    assert await ben.refused("POST", f"{VOICE}/session/join", body) == (422, "QUOTA_EXCEEDED")
    await node(world, server, publicUrl=TWO, capacity=2)
    assert len((await join(ben, channel_id))["channel"]["participants"]) == 2


async def test_a_join_stays_in_the_region_if_it_can(world: World) -> None:
    server = await node_server(world)
    one = await node(world, server, region="eu-north")
    ann, ben = await world.players("Ann", "Ben")
    channel_id = await private(ann, ben)
    assert (await join(ann, channel_id))["channel"]["nodeId"] == one.id
    world.advance(SILENCE_MS)
    minding(world).of(FLEET).silence()
    near = await node(world, server, region="eu-north")
    await node(world, server, capacity=1_000)
    assert (await join(ben, channel_id))["channel"]["nodeId"] == near.id


async def test_a_token_is_renewed_before_its_end(world: World) -> None:
    one = await node(world, await node_server(world))
    ann, ben = await world.players("Ann", "Ben")
    world.clock.stop()
    joined = await join(ann, await private(ann, ben))
    while world.clock.now_ms() < parse_iso(joined["session"]["expiresAt"]) - RENEWED_MS - 1:
        left_ms = parse_iso(joined["session"]["expiresAt"]) - RENEWED_MS - 1 - world.clock.now_ms()
        world.advance(min(30_000, left_ms))
        await one.beat()
        assert "session" not in await sync(ann, joined)
    world.advance(1)
    renewed = (await sync(ann, joined))["session"]
    assert parse_iso(renewed["expiresAt"]) == world.clock.now_ms() + SESSION_MS
    assert (await sync(ann, joined))["session"] == renewed, "told again, as an answer may be lost"
    assert renewed["id"] == joined["session"]["id"]


@pytest.mark.slow
async def test_who_has_gone_elsewhere_across_a_restart_is_no_ghost(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path) as world:
        one = await node(world, await node_server(world))
        people = await world.players("Ann", "Ben", "Cid")
        ann, ben, cid = people
        left, other = await private(ann, ben), await private(ann, cid)
        await join(ann, left)
        clock = world.clock
    async with open_world(database_url, tmp_path, clock=clock) as world:
        ann, ben = (Player(world, one.id, one.name, world.token(one.id, one.name)) for one in people[:2])
        attendance = minding(world).of(ATTENDANCE)
        # Nothing has woken the channel that she leaves by it.
        assert minding(world).system.peek(minding(world).of(VOICE_KINDS).channel, left) is None
        await join(ann, other)
        await end_doomed(minding(world))

        async def gone() -> bool:
            state = attendance.state(left)
            return state is None or not state.sessions

        await wait_until(gone)
        assert (await ann.get(f"{VOICE}/regions"))["items"][0]["participants"] == 1
        world.advance(EMPTY_MS)
        await look(minding(world))
        assert attendance.state(left) is None
        await VoiceNode(world, {"nodeId": one.id, "nodeSecret": one.secret}).beat()
        assert (await ben.do("POST", f"{VOICE}/channels/private", {"targetId": ann.id}))["id"] != left


async def test_seats_are_kept_until_it_is_known_who_took_them(world: World) -> None:
    one = await node(world, await node_server(world), capacity=1)
    ann, ben = await world.players("Ann", "Ben")
    channel_id = await private(ann, ben)
    row, seats = minding(world).of(FLEET).get(one.id), minding(world).of(ATTENDANCE).seats
    assert row is not None
    with (
        pytest.raises(OutcomeUnknown),
        kept_for(minding(world), row, channel_id, (ann.id,)) as kept,
    ):
        assert kept
        raise OutcomeUnknown
    assert seats.used(one.id) == 1, "she may have joined"

    async def settled() -> bool:
        return seats.used(one.id) == 0

    await wait_until(settled)
    await join(ben, channel_id)
    body = {"channelId": channel_id}
    assert await ann.refused("POST", f"{VOICE}/session/join", body) == (422, "QUOTA_EXCEEDED")
