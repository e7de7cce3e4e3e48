"""`kill -9` of the server while an extension is migrated over two hundred game servers: each of them is on the one side
or the other, whole, whenever one looks; and after the start all of them are on the other.
"""

import asyncio
import secrets
import time
from collections import Counter
from typing import Any

import httpx2
import pytest
import trio

from persistence.bridge.database import Database
from persistence.connection import Connection
from routes.edge.identity.keys import open_keys
from tests.services.play import ACTIONS, SCHEMA
from tests.support.process import ServerProcess, server_process
from tests.support.waiting import LOOK_SECONDS, PATIENCE_SECONDS, patience

SERVERS = 200
IN_THE_WAY = 120
"""The place of the server whose rows the test keeps locked, so that the kill comes in the middle."""

AT_ONCE = 20

SIDES = """
SELECT
    ARRAY(SELECT source || ' ' || version FROM connect_settings c WHERE c.server_id = s.server_id) AS settings,
    ARRAY(SELECT extension_id || ' ' || name || ' ' || convert_from(actions, 'UTF8') FROM connect_registrations r
          WHERE r.server_id = s.server_id) AS registrations,
    ARRAY(SELECT status FROM connect_commands o WHERE o.server_id = s.server_id) AS commands
FROM connect_servers s ORDER BY created_at_ms, server_id
"""

SOMEBODY_WAITS = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"


class Caller:
    """Somebody with credentials."""

    def __init__(self, client: httpx2.AsyncClient, headers: dict[str, str]) -> None:
        self._client = client
        self.headers = headers

    async def do(self, method: str, path: str, body: object = None) -> Any:
        """The JSON of a successful request."""
        answer = await self._client.request(method, path, json=body, headers=self.headers)
        assert answer.status_code in {200, 201}, answer.text
        return answer.json()


async def _server(client: httpx2.AsyncClient, owner: Caller) -> tuple[str, Caller]:
    """A game server with settings, a secret among them, a registration and an open command."""
    made = await Caller(client, {}).do(
        "POST", "/v1/connect/servers/register", {"serverType": "paper", "serverName": "s"}
    )
    await owner.do("POST", "/v1/connect/servers/claim", {"claimKey": made["claimKey"]})
    path = f"/v1/connect/servers/{made['serverId']}"
    headers = {"authorization": f"Bearer {made['serverSecret']}", "x-server-id": made["serverId"]}
    server = Caller(client, headers)
    await server.do("PUT", f"{path}/extensions/old", {"name": "Board", "actions": ACTIONS})
    data = {"key": made["serverId"], "lines": 3}
    await server.do("PUT", f"{path}/settings", {"source": "old", "data": data, "schema": SCHEMA})
    await owner.do("POST", f"{path}/commands", {"action": "clear", "extensionId": "old", "payload": {}})
    return path, server


async def _looks(database: Database) -> Counter[str]:
    """How many servers are on which side; none is between."""
    sides: Counter[str] = Counter()
    for row in await database.read(lambda conn: conn.fetch(SIDES)):
        ((id, name, actions),) = [text.split(" ", 2) for text in row["registrations"]]
        assert (name, '"clear"' in actions) == ("Board", True)
        on_side = {"old": (["old 1"], ["pending"]), "new": (["new 2"], ["cancelled"])}[id]
        assert (list(row["settings"]), list(row["commands"])) == on_side
        sides[id] += 1
    assert sum(sides.values()) == SERVERS
    return sides


async def _kill_in_the_middle(
    process: ServerProcess, database: Database, migrate: Any, seen: list[Counter[str]]
) -> None:
    """Begin to migrate; kill the server while it waits for rows that are kept locked until it is dead."""
    stuck, is_dead = trio.Event(), []
    here = trio.lowlevel.current_trio_token()

    async def in_the_way(conn: Connection) -> None:
        await conn.execute(
            "SELECT FROM connect_settings WHERE server_id ="
            " (SELECT server_id FROM connect_servers ORDER BY created_at_ms, server_id LIMIT 1 OFFSET $1) FOR UPDATE",
            IN_THE_WAY,
        )
        while not await conn.fetchval(SOMEBODY_WAITS):  # noqa: ASYNC110
            await asyncio.sleep(LOOK_SECONDS)
        here.run_sync_soon(stuck.set)
        while not is_dead:  # noqa: ASYNC110
            await asyncio.sleep(LOOK_SECONDS)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: database.transact(in_the_way, timeout_seconds=PATIENCE_SECONDS))
        nursery.start_soon(migrate)
        await stuck.wait()
        seen.append(await _looks(database))
        await process.kill()
        seen.append(await _looks(database))
        is_dead.append(True)


@pytest.mark.drill
async def test_each_server_is_whole_on_the_one_side_or_the_other(
    database_url: str, database: Database
) -> None:
    seen: list[Counter[str]] = []
    async with (
        server_process(database_url=database_url) as process,
        httpx2.AsyncClient(base_url=process.url, timeout=PATIENCE_SECONDS) as client,
    ):
        ann = Caller(client, {"authorization": f"Bearer {_token(process)}"})
        for id in ("old", "new"):
            body = {"extensionId": id, "name": id, "visibility": "public"}
            await ann.do("POST", "/v1/connect/extensions", body)
        servers = await _servers(client, ann)
        made = await ann.do("POST", "/v1/services", {"name": "Board", "extensionId": "old"})
        path = f"/v1/services/{made['serviceId']}/migrate-extension"

        async def migrate() -> None:
            with pytest.raises(httpx2.TransportError):
                await ann.do("POST", path, {"extensionId": "new"})

        with patience():
            await _kill_in_the_middle(process, database, migrate, seen)
            assert 0 < seen[-1]["new"] < SERVERS
            await process.start()
            while seen[-1]["new"] < SERVERS:
                seen.append(await _looks(database))
                await trio.sleep(LOOK_SECONDS)
        again = await ann.do("POST", path, {"extensionId": "new"})
        assert (again["service"]["extensionId"], again["pending"]) == ("new", 0)
        for server_path, server in servers[:: SERVERS // 5]:
            shown = await server.do("GET", f"{server_path}/settings?source=new")
            assert shown["data"] == {"key": server.headers["x-server-id"], "lines": 3}, (
                "the secret, sealed anew"
            )
        assert await process.stop() == 0
    moved = [one["new"] for one in seen]
    assert moved == sorted(moved), "none goes back"


async def _servers(client: httpx2.AsyncClient, owner: Caller) -> list[tuple[str, Caller]]:
    servers: list[tuple[str, Caller]] = []
    limit = trio.CapacityLimiter(AT_ONCE)

    async def make() -> None:
        async with limit:
            servers.append(await _server(client, owner))

    async with trio.open_nursery() as nursery:
        for _ in range(SERVERS):
            nursery.start_soon(make)
    return servers


def _token(process: ServerProcess) -> str:
    minted = open_keys(process.data_dir).mint_user_token(
        "00000000-0000-4000-8000-000000000000",
        "Ann",
        now_ms=time.time_ns() // 1_000_000,
        ttl_seconds=3600,
        random_bytes=secrets.token_bytes,
    )
    return minted.token
