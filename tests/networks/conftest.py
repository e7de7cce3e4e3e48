"""Fixtures of networks' tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from routes.networks import automation, resolver
from routes.networks import cloudflare as provider
from tests.networks.cloudflare import CloudflareStub
from tests.networks.dns_server import DnsServer
from tests.networks.play import Place
from tests.support.server import Edge
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.world import open_world, world

__all__ = ["world"]


@pytest.fixture
async def dns_server() -> AsyncIterator[DnsServer]:
    """A DNS server on loopback, UDP and TCP."""
    async with trio.open_nursery() as nursery:
        server = DnsServer()
        await nursery.start(server.serve)
        yield server
        nursery.cancel_scope.cancel()


@pytest.fixture
async def cloudflare() -> AsyncIterator[CloudflareStub]:
    """Cloudflare's API on loopback, in a few hundred lines less."""
    async with trio.open_nursery() as nursery:
        stub = CloudflareStub()
        await nursery.start(stub.serve)
        yield stub
        nursery.cancel_scope.cancel()


@pytest.fixture
def upstream_seconds() -> float:
    """How long DNS servers and providers are waited for: a test in which one never answers says how long."""
    return PATIENCE_SECONDS


@pytest.fixture
def names() -> dict[str, str]:
    """The settings of gateways and their names: a test in which gateways say their own hosts has others."""
    return {"gateway_domain": "play.partyline.test", "gateway_host": "gw.partyline.test"}


@pytest.fixture
async def place(
    served_by: Edge,
    database_url: str,
    tmp_path: Path,
    dns_server: DnsServer,
    cloudflare: CloudflareStub,
    upstream_seconds: float,
    names: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Place]:
    """A service that asks these two, with a gateway domain."""
    for module, bound in ((resolver, "SECONDS"), (provider, "SECONDS"), (automation, "INLINE_SECONDS")):
        monkeypatch.setattr(module, bound, upstream_seconds)
    settings = {
        "dns_server": f"127.0.0.1:{dns_server.port}",
        "cloudflare_url": cloudflare.url,
        **names,
    }
    async with open_world(database_url, tmp_path, edge=served_by, **settings) as world:
        yield Place(world, dns_server, cloudflare)
