"""What the journal keeps of game servers, and what viewers are told of it when they come back."""

from pathlib import Path
from typing import Any

import msgspec
import trio

from persistence.connection import Connection
from tests.connect.play import GameServer, claimed
from tests.support.websocket import Client
from tests.support.world import Player, World, open_world

LARGE = "y" * 30_000


async def _json(client: Client) -> Any:
    with trio.fail_after(10):
        return await client.receive_json()


async def _missed(player: Player, server: GameServer, since: tuple[str, int]) -> list[tuple[int, str, Any]]:
    """What a viewer is told of the time since then: (offset, event, data), up to now."""
    channel = f"server:{server.id}"
    told: list[tuple[int, str, Any]] = []
    async with player.live("/v1/social/live?channels=") as live:
        await _json(live)
        ask = {"id": 1, "op": "subscribe", "channel": channel, "params": {"mode": "delta"}}
        await live.send_json({**ask, "since": {"epoch": since[0], "offset": since[1]}})
        reply = await _json(live)
        assert reply["recovered"] is True, reply
        while not told or told[-1][0] < reply["offset"]:
            frame = await _json(live)
            told.append((frame["offset"], frame["event"], frame["data"]))
    return told


async def _position(world: World, server: GameServer) -> tuple[str, int]:
    return await world.service.database.read(_head, server.id)


async def _head(conn: Connection, id: str) -> tuple[str, int]:
    row = await conn.fetchrow("SELECT epoch, seq FROM heads WHERE kind = 'server' AND id = $1", id)
    assert row is not None
    return row["epoch"], row["seq"]


async def _events(conn: Connection, id: str) -> list[bytes]:
    rows = await conn.fetch("SELECT event FROM events WHERE kind = 'server' AND id = $1 ORDER BY seq", id)
    return [row["event"] for row in rows]


async def _rewrite(conn: Connection, id: str, seq: int, event: bytes) -> None:
    await conn.execute(
        "UPDATE events SET event = $3 WHERE kind = 'server' AND id = $1 AND seq = $2", id, seq, event
    )


_BUSY = [*["settings_updated"] * 3, *["command"] * 4, "extensions"]
"""The events of `_busy`."""


async def _busy(owner: Player, server: GameServer) -> str:
    """Settings, a command with all its moves, an extension: each with tens of thousands of bytes."""
    for number in range(3):
        data = {"text": LARGE, "n": number}
        await owner.do("PUT", f"{server.path}/settings", {"data": data}, status=200)
    wanted = {"action": "a", "payload": {"text": LARGE}}
    made = await owner.do("POST", f"{server.path}/commands", wanted, status=201)
    path = f"{server.path}/commands/{made['command']['id']}/ack"
    await server.get(f"{server.path}/commands")
    await server.do("POST", path, {"status": "running"}, status=200)
    await server.do("POST", path, {"status": "success", "result": {"text": LARGE}}, status=200)
    await owner.do("POST", "/v1/connect/extensions", {"extensionId": "shop", "name": "Shop"}, status=201)
    fields = [{"key": f"k{at}", "type": "string", "label": "l" * 400} for at in range(40)]
    action = {"id": "buy", "schema": {"fields": fields}}
    await server.do("PUT", f"{server.path}/extensions/shop", {"actions": [action]}, status=200)
    return str(made["command"]["id"])


async def test_the_journal_never_holds_whole_settings_commands_or_extensions(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    await _busy(ann, server)
    kept = await world.service.database.read(_events, server.id)
    assert len(kept) == 8
    assert max(map(len, kept)) < 200


async def test_no_missed_event_is_left_out(database_url: str, tmp_path: Path):
    """Whoever was away is told each event at its offset, and of what it is about how that is now."""
    async with open_world(database_url, tmp_path) as world:
        ann = await world.player("Ann")
        server = await claimed(world, ann)
        since = await _position(world, server)
        command_id = await _busy(ann, server)
    async with open_world(database_url, tmp_path) as world:
        ann.world = world
        told = await _missed(ann, server, since)
        assert [event for _, event, _ in told] == _BUSY
        assert [offset for offset, _, _ in told] == list(range(since[1] + 1, since[1] + 9))
        settings, command, extensions = (told[at][2] for at in (2, 6, 7))
        assert (settings["version"], settings["data"]) == (3, {"text": LARGE, "n": 2})
        assert (command["id"], command["status"]) == (command_id, "success")
        assert (command["payload"], command["result"]) == ({"text": LARGE}, {"text": LARGE})
        assert [one["extensionId"] for one in extensions] == ["shop"]


async def test_a_journal_from_before_is_read(database_url: str, tmp_path: Path):
    """Events used to hold the rows themselves."""
    async with open_world(database_url, tmp_path) as world:
        ann = await world.player("Ann")
        server = await claimed(world, ann)
        epoch, offset = await _position(world, server)
        command_id = await _busy(ann, server)
        former = {
            "settings": {
                "server_id": server.id,
                "source": "connect",
                "version": 3,
                "data": b"{}",
                "schema": None,
            }
        }
        former_settings = {"type": "settings_updated", **former, "changed_keys": ["text"]}
        row = {"id": command_id, "server_id": server.id, "action": "a", "payload": b"{}", "status": "success"}
        for at, event in ((3, former_settings), (7, {"type": "command", "command": row})):
            await world.service.database.transact(
                _rewrite, server.id, offset + at, msgspec.msgpack.encode(event)
            )
    async with open_world(database_url, tmp_path) as world:
        ann.world = world
        told = await _missed(ann, server, (epoch, offset))
        assert [event for _, event, _ in told] == _BUSY
        assert told[2][2]["version"] == 3
        assert told[6][2]["result"] == {"text": LARGE}
