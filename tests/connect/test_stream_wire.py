"""The stream of a server, and its channel: settings first, then what happens; who may look, and for how long."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from actors.connect.commands import TakeCommands
from actors.connect.events import ServerChanged
from actors.kernel.mailbox import MAILBOX_LETTERS, Answer
from persistence.connection import Connection
from routes.chat.channels import READ
from routes.connect.channels import READ_MEMBERS
from routes.connect.jobs import SILENT_MS
from routes.connect.parts import GAME_SERVERS
from routes.connect.waiters import WAITERS
from tests.connect.play import GameServer, claimed, register
from tests.support.jobs import clean_connect
from tests.support.locks import held_up
from tests.support.spec import spec
from tests.support.waiting import patience, wait_until
from tests.support.websocket import Client, Closed, Refused, connect
from tests.support.world import Player, World, open_world

pytestmark = pytest.mark.both_edges


def _live(server: GameServer):
    headers = [("x-server-id", server.id)]
    path = f"{server.path}/stream"
    heard = spec().frames_of(path)
    return connect(server.world.url + path, token=server.token, headers=headers, heard=heard)


async def _json(client: Client):
    with patience():
        return await client.receive_json()


async def test_the_server_is_given_its_commands(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    waiting = await ann.do("POST", f"{server.path}/commands", {"action": "first"}, status=201)
    async with _live(server) as live:
        assert await _json(live) == {"type": "settings_snapshot", "settings": []}
        frame = await _json(live)
        assert (frame["type"], frame["command"]["id"]) == ("command", waiting["command"]["id"])
        assert (frame["command"]["status"], frame["command"]["attempts"]) == ("delivered", 1)
        made = await ann.do("POST", f"{server.path}/commands", {"action": "second"}, status=201)
        frame = await _json(live)
        assert (frame["command"]["action"], frame["command"]["status"]) == ("second", "delivered")
        ack = {"status": "success"}
        for command in (waiting, made):
            path = f"{server.path}/commands/{command['command']['id']}/ack"
            await server.do("POST", path, ack, status=200)
        await ann.do("PUT", f"{server.path}/settings", {"data": {"a": 1}}, status=200)
        frame = await _json(live)
        assert (frame["type"], frame["settings"]["data"]) == ("settings_updated", {"a": 1})


@pytest.mark.one_node(because="jobs of the node that has the stream are run")
async def test_an_instance_that_only_listens_is_not_silent(world: World):
    """It answers pings for days and calls nothing: it is connected, and stays. Without its stream it goes."""
    ann = await world.player("Ann")
    instance = await claimed(world, ann, tempInstance=True)

    async def half_days(number: int) -> None:
        for _ in range(number):
            await clean_connect(world)
            world.clock.advance(SILENT_MS // 2 + 1)
        await clean_connect(world)

    async with _live(instance) as live:
        await _json(live)
        await half_days(5)
        assert await instance.get(f"{instance.path}/settings")
    waiters = world.service.of(WAITERS)

    async def has_left() -> bool:
        return not waiters.takes(instance.id)

    await wait_until(has_left)
    await half_days(5)
    assert (await instance.refused("GET", f"{instance.path}/settings"))[0] == 401


async def test_what_is_not_acknowledged_is_given_again(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    async with _live(server) as live:
        await _json(live)
        made = await ann.do("POST", f"{server.path}/commands", {"action": "a"}, status=201)
        await _json(live)
        world.clock.advance(30_000)
        # Timers do not notice the test's clock: the next command's turn arms them anew.
        await ann.do("POST", f"{server.path}/commands", {"action": "b"}, status=201)
        frames = [(await _json(live))["command"] for _ in range(2)]
        assert {(one["action"], one["attempts"]) for one in frames} == {("a", 2), ("b", 1)}
        assert made["command"]["id"] in {one["id"] for one in frames}


async def test_what_could_not_be_taken_is_tried_again(world: World):
    """Too much waits for the server when its stream opens, and nothing happens to it afterwards."""
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    made = await ann.do("POST", f"{server.path}/commands", {"action": "a"}, status=201)
    service, full = world.service, list[Answer]()

    def fill() -> None:
        for _ in range(MAILBOX_LETTERS):
            service.system.post(service.of(GAME_SERVERS).server, server.id, TakeCommands(0), full.append)

    service.of(WAITERS).listening.follow_own(lambda _server_id: fill())
    async with _live(server) as live:
        await _json(live)
        assert (await _json(live))["command"]["id"] == made["command"]["id"]
        assert len(full) == MAILBOX_LETTERS


async def test_users_see_masks_and_every_move(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    schema = {"fields": [{"key": "key", "type": "secret"}]}
    body = {"source": "shop", "schema": schema, "data": {"key": "hidden"}}
    await server.do("PUT", f"{server.path}/settings", body, status=200)
    with pytest.raises(Refused) as refused:
        async with bob.live(f"{server.path}/stream"):
            pass
    assert refused.value.status == 404
    async with ann.live(f"{server.path}/stream") as live, _live(server) as own:
        assert (await _json(live))["settings"][0]["data"] == {"key": "********"}
        assert (await _json(own))["settings"][0]["data"] == {"key": "hidden"}
        made = await ann.do("POST", f"{server.path}/commands", {"action": "a"}, status=201)
        path = f"{server.path}/commands/{made['command']['id']}/ack"
        moves = [(await _json(live))["command"]["status"] for _ in range(2)]
        await server.do("POST", path, {"status": "running", "progress": 1}, status=200)
        await server.do("POST", path, {"status": "running", "progress": 2}, status=200)
        await server.do("POST", path, {"status": "failed", "error": "no"}, status=200)
        moves += [(await _json(live))["command"]["status"] for _ in range(3)]
        assert moves == ["pending", "delivered", "running", "running", "failed"]
        await ann.do("POST", "/v1/connect/extensions", {"extensionId": "shop", "name": "Shop"}, status=201)
        await server.do("PUT", f"{server.path}/extensions/shop", {}, status=200)
        frame = await _json(live)
        assert [one["extensionId"] for one in frame["extensions"]] == ["shop"]


async def test_the_channel_has_offsets_that_outlive_absence(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    channel = f"server:{server.id}"
    async with ann.live("/v1/social/live?channels=") as live:
        await _json(live)
        ask = {"id": 1, "op": "subscribe", "channel": channel, "params": {"mode": "delta"}}
        await live.send_json(ask)
        reply = await _json(live)
        assert reply["ok"], reply
        snapshot = await _json(live)
        assert snapshot["data"] == {"type": "settings_snapshot", "settings": []}
        await ann.do("POST", f"{server.path}/commands", {"action": "a"}, status=201)
        event = await _json(live)
        assert (event["event"], event["data"]["action"]) == ("command", "a")
        assert event["offset"] == snapshot["offset"] + 1
    await ann.do("PUT", f"{server.path}/settings", {"data": {"a": 1}}, status=200)
    async with ann.live("/v1/social/live?channels=") as live:
        await _json(live)
        since = {"epoch": event["epoch"], "offset": event["offset"]}
        await live.send_json({**ask, "since": since})
        assert (await _json(live))["recovered"] is True
        missed = await _json(live)
        assert (missed["event"], missed["offset"]) == ("settings_updated", event["offset"] + 1)


async def test_streams_end_with_what_opened_them(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    async with _live(server) as live, ann.live(f"{server.path}/stream") as seen:
        await _json(live)
        await _json(seen)
        await ann.do("POST", f"{server.path}/secret/rotate", status=200)
        world.clock.advance(10 * 60_000)
        with pytest.raises(Closed) as closed:
            await _json(live)
        assert closed.value.code == 4401
        await world.grant(ann, "connect:settings:read", negated=True)
        with pytest.raises(Closed) as closed:
            await _json(seen)
        assert closed.value.code == 4403


async def test_a_secret_that_is_replaced_while_its_stream_opens(world: World):
    server = await register(world)
    service = world.service
    credentials = service.of(GAME_SERVERS).credentials

    async def opened() -> None:
        async with _live(server) as live:
            await _json(live)
            with pytest.raises(Closed) as closed:
                await _json(live)
            assert closed.value.code == 4401

    async def lock(conn: Connection) -> None:
        await conn.execute(
            "LOCK TABLE heads IN ACCESS EXCLUSIVE MODE"
        )  # as long, the server cannot be loaded

    async def is_let_in() -> bool:
        return credentials.peek(server.id) is not None

    async def replace_twice() -> None:
        await wait_until(is_let_in)  # with several nodes another one may be what waits for the lock
        row = credentials.peek(server.id)
        assert row is not None
        # As another node tells of it.
        replaced = replace(row, secret=bytes(32), secret_number=row.secret_number + 2, former_until_ms=1)
        credentials.hear(server.id, ServerChanged(replaced))

    await held_up(service.database, lock, opened, replace_twice)


async def test_a_server_that_is_given_up_hears_no_more(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    async with _live(server) as live:
        await _json(live)
        await ann.do("DELETE", server.path, status=204)
        with pytest.raises(Closed):
            await _json(live)

        async def forgotten() -> bool:
            return world.service.of(WAITERS).statistics() == 0

        await wait_until(forgotten)


async def test_tokens_show_what_their_scopes_cover(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    blind = await server.delegated("server.status.write")
    with pytest.raises(Refused) as refused:
        async with _live(blind):
            pass
    assert refused.value.status == 403
    reader = await server.delegated("server.settings.read")
    async with _live(reader) as live:
        await _json(live)
        await ann.do("POST", f"{server.path}/commands", {"action": "a"}, status=201)
        await ann.do("PUT", f"{server.path}/settings", {"data": {"a": 1}}, status=200)
        assert (await _json(live))["type"] == "settings_updated"
    assert (await ann.get(f"{server.path}/commands", status="pending"))["items"]


@pytest.mark.one_node(because="one socket tells when the node of the other has heard of the loss")
async def test_who_loses_a_right_before_the_stream_is_loaded_is_shown_nothing(
    database_url: str, tmp_path: Path
) -> None:
    """Its rows are locked from before it is opened until the node has heard of the loss."""
    async with open_world(database_url, tmp_path) as world:
        ann = await world.player("Ann")
        server = await claimed(world, ann)
    async with open_world(database_url, tmp_path) as world:
        ann = Player(world, ann.id, ann.name, world.token(ann.id, ann.name))
        async with ann.live("/v1/social/live?channels=inbox") as other:
            await other.receive_until(type="snapshot", channel="inbox")

            async def lock(conn: Connection) -> None:
                await conn.execute("LOCK TABLE connect_settings")

            async def watch() -> None:
                async with ann.live(f"{server.path}/stream") as live:
                    with pytest.raises(Closed) as closed:
                        await live.receive()
                    assert closed.value.code == 4403

            async def lose() -> None:
                for node in (READ_MEMBERS, READ):
                    await world.grant(ann, node, negated=True)
                await other.receive_until(type="unsubscribed", channel="inbox")

            await held_up(world.service.database, lock, watch, lose)
