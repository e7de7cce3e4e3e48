"""Every secret of Connect, sent by every way that takes one and by many that do not: in the answer that shows it once,
and in no other, in no log, metric, file or row. Also when the database fails half-way.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from persistence.connection import Connection
from tests.connect.play import SERVERS, GameServer, claimed, register
from tests.networks.cloudflare import CANARY, ZONE, CloudflareStub
from tests.networks.dns_server import DnsServer
from tests.networks.play import NETWORKS, Net, Place, network
from tests.support.canaries import Overheard, dump, found, kept_in_files
from tests.support.websocket import Client, Refused, connect
from tests.support.world import Player, open_world

SETTING = "canary-setting-7Qk2"
SCHEMA = {"fields": [{"key": "key", "label": "Key", "type": "secret"}]}


@pytest.fixture
async def place(
    database_url: str, tmp_path: Path, dns_server: DnsServer, cloudflare: CloudflareStub
) -> AsyncIterator[Place]:
    """A service without limits of rate, that asks these two."""
    settings = {
        "dns_server": f"127.0.0.1:{dns_server.port}",
        "cloudflare_url": cloudflare.url,
        "rate_limits": "off",
    }
    async with open_world(database_url, tmp_path, **settings) as world:
        yield Place(world, dns_server, cloudflare)


class Secrets:
    """A server with everything secret about it, each by its name.

    Args:
        owner: who has it.
        server: with its first secret.
        net: where it is.
    """

    def __init__(self, owner: Player, server: GameServer, net: Net) -> None:
        self.owner, self.server, self.net = owner, server, net
        self.shown_once: dict[str, str] = {}
        self.never_shown = {"DNS token": CANARY}

    @property
    def all(self) -> dict[str, str]:
        """With the secret setting, which the server itself is shown."""
        return {**self.shown_once, **self.never_shown, "setting": SETTING}


async def _secrets(place: Place) -> Secrets:
    """All of them, made over the wire."""
    ann, bob = await place.world.players("Ann", "Bob")
    server, free = await claimed(place.world, ann), await register(place.world)
    it = Secrets(ann, server, await network(ann))
    ticket = await bob.do("POST", f"{server.path}/join-tickets", status=201)
    await server.seat(bob)
    scopes = {"scopes": ["server.settings.read"]}
    made = await it.net.token()
    host = await it.net.host()
    rotated = await ann.do("POST", f"{server.path}/secret/rotate", status=200)
    renewed = await free.do("GET", f"{free.path}/claim-key", status=200)
    permission = await server.do("POST", f"{server.path}/permission-tokens", {"userId": bob.id}, status=201)
    delegated = await server.do("POST", f"{server.path}/tokens", scopes, status=201)
    it.shown_once = {
        "server secret": server.secret,
        "rotated secret": rotated["serverSecret"],
        "host's secret": host.secret,
        "used claim key": server.claim_key,
        "claim key": free.claim_key,
        "renewed claim key": renewed["claimKey"],
        "join ticket": ticket["ticket"],
        "join token": made,
        "delegated token": delegated["token"],
        "permission token": permission["token"],
    }
    await ann.do("PUT", it.net.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    settings = {"source": "shop", "schema": SCHEMA, "data": {"key": SETTING}}
    await ann.do("PUT", f"{server.path}/settings", settings, status=200)
    await it.net.claim("play.example.com")
    return it


async def _send(it: Secrets, canary: str) -> None:
    """By every way that takes a secret, the right one or not, and by some that take none."""
    owner, server, net = it.owner, it.server, it.net
    nobody = owner.world.nobody()
    bearer = {"authorization": f"Bearer {canary}"}
    await nobody.ask("GET", SERVERS, headers=bearer)
    await nobody.ask(
        "GET", f"{server.path}/settings?source=none", headers={**bearer, "x-server-id": server.id}
    )
    await nobody.ask("GET", f"{server.path}/claim-key", headers={**bearer, "x-server-id": canary})
    for name in ("token", "access_token", "bearer", "authorization", "source", "status", "limit", "cursor"):
        await owner.ask("GET", f"{server.path}/commands?{name}={canary}")
    bodies: list[tuple[Player, str, str, dict[str, Any]]] = [
        (owner, "POST", f"{SERVERS}/claim", {"claimKey": canary}),
        (nobody, "POST", f"{NETWORKS}/join", {"joinToken": canary, "name": "Node"}),
        (server, "POST", f"{server.path}/sessions", {"ticket": canary}),
        (owner, "PUT", net.provider, {"apiToken": canary, "zoneId": "0" * 32}),
        (owner, "PUT", net.provider, {"apiToken": f"{canary} ", "zoneId": canary}),
        (server, "POST", f"{server.path}/tokens", {"scopes": [canary]}),
        (server, "POST", f"{server.path}/permission-tokens", {"userId": canary}),
        (nobody, "POST", f"{SERVERS}/register", {"serverType": canary, "serverName": "\n"}),
        (owner, "PUT", f"{server.path}/members/{owner.id}", {"role": canary}),
        (owner, "PUT", f"{server.path}/settings", {"data": {"key": [canary]}, "source": "shop"}),
    ]
    for asker, method, path, body in bodies:
        await asker.ask(method, path, body, headers={"idempotency-key": canary[:60]})
        await asker.ask(method, path, {name: [value] for name, value in body.items()})
        await asker.ask(method, path, {**body, canary: 1} if body.get("zoneId") == canary else {canary: 1})
        await asker.ask(method, path, content=f'{{"claimKey": "{canary}'.encode())
    for target, headers, protocols in (
        (f"{server.path}/stream?token={canary}", [], []),
        (f"{server.path}/stream", [("authorization", f"Bearer {canary}")], []),
        (f"{server.path}/stream", [], ["svc.v1", f"svc-bearer.{canary.replace(' ', '')}"]),
    ):
        with pytest.raises(Refused) as refused:
            async with connect(owner.world.url + target, headers=headers, subprotocols=protocols):
                pass
        assert not found([canary], f"{refused.value.headers}{refused.value.body.decode()}")


async def _look_around(it: Secrets) -> None:
    """Ask for everything that shows something of the server."""
    owner, world = it.owner, it.owner.world
    for path in ("settings?source=shop", "settings/history", "commands", "members", "invites", "extensions"):
        await owner.ask("GET", f"{it.server.path}/{path}")
    for path in (
        SERVERS,
        NETWORKS,
        "/v1/connect/hosts",
        it.net.domains,
        it.net.provider,
        "/v1/profile/servers",
    ):
        await owner.ask("GET", path)
    for path in ("/metrics", "/health", "/ready", "/v1/public/servers"):
        await world.nobody().ask("GET", path)
    await (await world.super_admin()).ask("GET", "/v1/admin/actors")


@pytest.mark.slow
async def test_no_secret_turns_up_again(place: Place, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    world = place.world
    overheard = Overheard(world)
    it = await _secrets(place)
    for canary in it.all.values():
        await _send(it, canary)
    await _look_around(it)
    async with it.owner.live(f"{it.server.path}/stream") as live:
        assert isinstance(live, Client)
        assert not found(it.all.values(), str(await live.receive()))
    for name, canary in it.shown_once.items():
        assert len(overheard.saying(canary)) == 1, f"{name}: {overheard.saying(canary)}"
    assert overheard.saying(CANARY) == []
    assert overheard.saying(SETTING) == []
    kept = await world.service.database.read(dump)
    assert it.server.id in kept
    assert found(it.all.values(), kept) == []
    assert [name for text in kept_in_files(tmp_path) for name in found(it.all.values(), text)] == []
    assert found(it.all.values(), "".join(capfd.readouterr())) == []


@pytest.mark.slow
async def test_nor_when_the_database_fails(place: Place, capfd: pytest.CaptureFixture[str]):
    """A statement that fails carries its parameters in its message; nobody is told of them."""
    it = await _secrets(place)
    overheard = Overheard(place.world)

    async def break_tables(conn: Connection) -> None:
        for table in (
            "connect_claim_keys",
            "network_join_tokens",
            "connect_settings",
            "network_dns",
            "receipts",
        ):
            await conn.execute(f"ALTER TABLE IF EXISTS {table} RENAME TO gone_{table}")

    await place.world.service.database.transact(break_tables)
    place.cloudflare.wrong = "500"
    statuses = [
        (
            await it.owner.ask("POST", f"{SERVERS}/claim", {"claimKey": it.shown_once["claim key"]})
        ).status_code,
        (await it.owner.ask("PUT", f"{it.server.path}/settings", {"data": {"key": SETTING}})).status_code,
    ]
    assert min(statuses) >= 500
    for canary in it.all.values():
        await _send(it, canary)
    assert [name for name, canary in it.all.items() if overheard.saying(canary)] == []
    logged = "".join(capfd.readouterr())
    assert "UndefinedTableError" in logged
    assert found(it.all.values(), logged) == []
