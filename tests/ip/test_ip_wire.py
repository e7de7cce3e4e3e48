"""`/v1/ip` and `/v1/ip/geo` over the wire."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.connect.play import claimed, register
from tests.ip import databases
from tests.support.one_world import in_one_world
from tests.support.server import Edge
from tests.support.world import Player, World, open_world

pytestmark = pytest.mark.both_edges

GEO = "/v1/ip/geo"
HERE = "81.2.69.142"


@pytest.fixture
async def mapped(served_by: Edge, database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    """A service with a database, behind a proxy on this machine."""
    path = tmp_path / "geo.mmdb"
    databases.write(path)
    settings = {"geoip_db": str(path), "trusted_proxies": "127.0.0.1"}
    async with open_world(database_url, tmp_path / "data", edge=served_by, **settings) as world:
        yield world


async def geographer(world: World) -> Player:
    ann = await world.player("Ann")
    await world.grant(ann, "ip:geo.read")
    return ann


async def test_the_address_is_the_peer_s(world: World):
    for headers in ({}, {"x-forwarded-for": HERE}, {"forwarded": f"for={HERE}"}, {"cf-connecting-ip": HERE}):
        answer = await world.nobody().ask("GET", "/v1/ip", headers=headers)
        assert (answer.status_code, answer.text) == (200, "127.0.0.1")
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.headers["cache-control"] == "no-store"


async def test_behind_a_trusted_proxy_it_is_the_client_s(mapped: World):
    for forwarded, address in ((HERE, HERE), (f"6.6.6.6, {HERE}", HERE), ("2A02:CF40::1", "2a02:cf40::1")):
        answer = await mapped.nobody().ask("GET", "/v1/ip", headers={"x-forwarded-for": forwarded})
        assert answer.text == address


@pytest.mark.parametrize(
    ("trusted", "headers", "address"),
    [
        ("127.0.0.1", {"cf-connecting-ip": HERE, "x-forwarded-for": "6.6.6.6"}, HERE),
        ("127.0.0.1", {"x-forwarded-for": HERE}, HERE),
        ("127.0.0.1", {"x-forwarded-for": f"{HERE}, 127.0.0.1"}, HERE),
        ("127.0.0.1", {"cf-connecting-ip": "nonsense", "x-forwarded-for": HERE}, "127.0.0.1"),
        ("127.0.0.1", {"x-real-ip": HERE, "forwarded": f"for={HERE}"}, "127.0.0.1"),
        ("10.0.0.0/8", {"cf-connecting-ip": HERE, "x-forwarded-for": HERE}, "127.0.0.1"),
    ],
)
async def test_the_proxy_s_own_header_is_preferred(
    database_url: str, tmp_path: Path, trusted: str, headers: dict[str, str], address: str
):
    settings = {"trusted_proxies": trusted, "client_ip_header": "CF-Connecting-IP"}
    async with open_world(database_url, tmp_path, **settings) as world:
        answer = await world.nobody().ask("GET", "/v1/ip", headers=headers)
        assert answer.text == address


async def test_where_an_address_is(mapped: World):
    ann = await geographer(mapped)
    london = {
        "ip": HERE,
        "country": "United Kingdom",
        "countryIso": "GB",
        "region": "England",
        "city": "London",
        "zip": "OX1",
        "timezone": "Europe/London",
        "continent": "Europe",
        "lat": 51.5,
        "lon": -0.125,
    }
    assert await ann.get(GEO, ip=HERE) == london
    assert await ann.get(GEO, ip=f"::ffff:{HERE}") == london
    assert (await ann.get(GEO, ip="2a02:cf40::1"))["city"] == "London"
    by_default = await ann.ask("GET", GEO, headers={"x-forwarded-for": HERE})
    assert by_default.json() == london
    sparse = await ann.get(GEO, ip="89.160.20.1")
    assert sparse == dict.fromkeys(london) | {"ip": "89.160.20.1", "countryIso": "SE"}


@in_one_world("text", ["10.0.0.1", "::ffff:10.0.0.1", "fe80::1%25eth0", "::1", "nonsense", "", "8.8"])
async def test_other_addresses_are_refused(mapped: World, text: str):
    ann = await geographer(mapped)
    assert await ann.refused("GET", f"{GEO}?ip={text}") == (400, "BAD_QUERY")


async def test_an_address_without_a_place_is_not_found(mapped: World):
    ann = await geographer(mapped)
    assert await ann.refused("GET", f"{GEO}?ip=8.8.8.8") == (404, "NOT_FOUND")
    assert await ann.refused("GET", GEO) == (404, "NOT_FOUND")


async def test_without_a_database(world: World):
    ann = await geographer(world)
    answer = await ann.ask("GET", f"{GEO}?ip={HERE}")
    assert (answer.status_code, answer.json()["code"]) == (503, "GEOIP_UNAVAILABLE")
    assert int(answer.headers["retry-after"]) > 0
    assert await ann.refused("GET", f"{GEO}?ip=10.0.0.1") == (400, "BAD_QUERY")


async def test_who_may_ask(mapped: World):
    bob = await mapped.player("Bob")
    assert await bob.refused("GET", GEO) == (403, "FORBIDDEN")
    assert await mapped.nobody().refused("GET", GEO) == (401, "UNAUTHENTICATED")
    owner = await geographer(mapped)
    server, foreign = await claimed(mapped, owner), await claimed(mapped, bob)
    assert (await server.get(GEO, ip=HERE))["city"] == "London"
    assert await foreign.refused("GET", GEO) == (403, "FORBIDDEN")
    assert await (await register(mapped)).refused("GET", GEO) == (403, "FORBIDDEN")
    token = await server.delegated("server.status.write")
    assert await token.refused("GET", GEO) == (403, "FORBIDDEN")
    await mapped.grant(owner, "ip:geo.read", negated=True)
    assert await server.refused("GET", GEO) == (403, "FORBIDDEN")
    assert await owner.refused("GET", GEO) == (403, "FORBIDDEN")
