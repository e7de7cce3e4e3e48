"""Behind nginx, Caddy and HAProxy as deploy/ sets them up: sockets, uploads, long polls, the client's own address."""

from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
import trio

from tests.connect.play import claimed
from tests.edge.certificate import Certificate
from tests.support.proxies import PROXIES, proxied
from tests.support.server import address_of
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.websocket import Client
from tests.support.world import Player, World, open_world

CLIENT_ADDRESS = "127.0.0.2"
"""Clients come from here to the proxy, and the proxy from 127.0.0.1 to the service."""

MESSAGES = 10


class Behind:
    """A world that is reached through a proxy."""

    def __init__(self, world: World, url: str, http: httpx2.AsyncClient, certificate: Certificate) -> None:
        self.direct = world
        self.world = World([world.service], [url], world.clock, http)
        self._certificate = certificate

    @asynccontextmanager
    async def listening(self, player: Player, channel: str) -> AsyncIterator[Client]:
        """A live socket of theirs, subscribed and past its snapshot."""
        stream = await trio.open_ssl_over_tcp_stream(
            *address_of(self.world.url), ssl_context=self._certificate.trusting(), https_compatible=True
        )
        client = Client(stream)
        try:
            await self._subscribe(client, player, channel)
            yield client
        finally:
            await trio.aclose_forcefully(stream)

    async def _subscribe(self, client: Client, player: Player, channel: str) -> None:
        bearer = [("authorization", f"Bearer {player.token}"), ("origin", self.world.url)]
        path = "/v1/social/live?channels="
        await client.shake_hands(path, urlsplit(self.world.url).netloc, headers=bearer, subprotocols=[])
        await client.send_json({"id": 1, "op": "subscribe", "channel": channel, "params": {"mode": "delta"}})
        await client.receive_until(type="snapshot")


@pytest.fixture(params=PROXIES)
async def behind(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> AsyncIterator[Behind]:
    (tmp_path / "proxy").mkdir()
    async with (
        open_world(database_url, tmp_path / "data", trusted_proxies="127.0.0.1,::1") as world,
        proxied(request.param, urlsplit(world.url).netloc, tmp_path / "proxy") as (url, certificate),
        httpx2.AsyncClient(
            base_url=url,
            timeout=PATIENCE_SECONDS,
            transport=httpx2.AsyncHTTPTransport(
                verify=certificate.trusting(), local_address=CLIENT_ADDRESS, http2=True
            ),
        ) as http,
    ):
        yield Behind(world, url, http, certificate)


@pytest.mark.slow
async def test_everything_passes(behind: Behind) -> None:
    """One story for each proxy: what passes one well may be what the other breaks."""
    world = behind.world
    ann, ben = await world.players("Ann", "Ben")
    await _client_addresses(behind)
    room = await ann.talk_to(ben)
    async with behind.listening(ben, room.channel) as live:
        for number in range(MESSAGES):
            await ann.say(room, f"{number}")
            event = await live.receive_until(event="message_created")
            assert event["data"]["content"] == f"{number}"
        await _uploads(ann, room.path)
        await _long_polls(world, ann)
        await live.ping()
        await live.wait_pong()
        assert (await live.close()).code == 1000
    print(f"one of {len(PROXIES)} proxies: {MESSAGES} live messages, two uploads and a long poll passed")


async def _client_addresses(behind: Behind) -> None:
    http = behind.world.http
    forged = {"x-forwarded-for": "203.0.113.7", "forwarded": "for=203.0.113.7"}
    for headers in ({}, forged):
        assert (await http.get("/v1/ip", headers=headers)).text == CLIENT_ADDRESS
    assert (await http.get("/metrics")).status_code == 404
    assert (await behind.direct.http.get("/metrics")).status_code == 200
    assert (await http.get("/app")).http_version == "HTTP/2"


async def _uploads(ann: Player, path: str) -> None:
    """The largest attachment comes and goes whole; one byte more is refused by the service, in its words."""
    most = ann.world.service.config.attachment_max_bytes
    for size, status in ((most, 201), (most + 1, 413)):
        data = b64encode(bytes(size)).decode()
        file = {"fileName": "a.bin", "contentType": "application/octet-stream", "dataBase64": data}
        response = await ann.ask("POST", f"{path}/attachments", file)
        assert response.status_code == status, response.text[:200]
        assert "urn:problem" in response.text or status == 201


async def _long_polls(world: World, ann: Player) -> None:
    """A server that waits for a command is answered when there is one."""
    server = await claimed(world, ann)
    found: list[object] = []

    async def wait() -> None:
        found.extend((await server.get(f"{server.path}/commands", wait=20))["items"])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await ann.do("POST", f"{server.path}/commands", {"action": "say"}, status=201)
    assert len(found) == 1
