"""The secrets of voice nodes: in the answer that shows one once, and in no other, in no log, file or row. Also when
the database fails half-way.
"""

from pathlib import Path

import jwt
import pytest

from persistence.connection import Connection
from tests.support.canaries import Overheard, dump, found, kept_in_files
from tests.support.world import Player, open_world
from tests.voice.play import NODE, NODES, VOICE, VoiceNode, join, node, node_server, private

LIVEKIT = "canary-livekit-secret-7Qk2-0123456789"
BEAT = {"participants": 0, "channels": 0, "load": 0, "draining": False}


@pytest.mark.slow
async def test_no_secret_turns_up_again(
    database_url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        server, root = await node_server(world), await world.super_admin()
        overheard = Overheard(world)
        body = {**NODE, "livekit": {"apiKey": "key", "apiSecret": LIVEKIT}}
        once = {"idempotency-key": "once"}
        answers = [await server.ask("POST", f"{NODES}/register", body, headers=once) for _ in range(2)]
        one, two = VoiceNode(world, answers[0].json()), await node(world, server)
        assert answers[1].json() == answers[0].json(), "kept for who repeats it, and sealed"
        secrets = [one.secret, two.secret, LIVEKIT]
        ann, ben = await world.players("Ann", "Ben")
        joined = await join(ann, await private(ann, ben))
        jwt.decode(joined["session"]["token"], LIVEKIT, algorithms=["HS256"], options={"verify_nbf": False})
        for canary in secrets:
            stranger = Player(world, "", "", canary)
            await stranger.ask("GET", f"{VOICE}/regions")
            await stranger.ask("POST", f"{one.path}/heartbeat", BEAT, headers={"x-node-id": two.id})
            await one.ask("POST", f"{one.path}/heartbeat", {**BEAT, "ack": canary, "load": canary})
            await one.ask("POST", f"{one.path}/heartbeat", {**BEAT, "rooms": [{"channelId": canary}]})
            await server.ask("POST", f"{NODES}/register", {**body, "publicUrl": f"ws://{canary}@a"})
            await server.ask("POST", f"{NODES}/register", {**body, "livekit": {"apiKey": canary * 2}})
        await one.beat()
        await two.beat()
        for path in (f"{VOICE}/regions", NODES, "/v1/admin/audit", "/v1/admin/actors", "/metrics"):
            await root.ask("GET", path)
        registered = f"POST {NODES}/register (server)"
        assert overheard.saying(one.secret) == [registered] * 2
        assert overheard.saying(two.secret) == [registered]
        assert overheard.saying(LIVEKIT) == []
        kept = await world.service.database.read(dump)
        assert one.id in kept
        assert found(secrets, kept) == []
        await world.service.database.transact(_break)
        statuses = [
            (await server.ask("POST", f"{NODES}/register", body)).status_code,
            (await server.ask("DELETE", one.path)).status_code,
        ]
        assert min(statuses) >= 500
        assert overheard.saying(LIVEKIT) == []
        assert [name for text in kept_in_files(tmp_path) for name in found(secrets, text)] == []
    assert found(secrets, "".join(capfd.readouterr())) == []


async def _break(conn: Connection) -> None:
    await conn.execute("ALTER TABLE voice_nodes RENAME TO gone_voice_nodes")
