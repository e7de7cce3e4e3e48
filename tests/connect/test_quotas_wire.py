"""What one user, or all strangers together, can make: exact also when a hundred ask at the same moment."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import trio

from actors.connect.room import MAX_OWNED
from actors.connect.state import CLAIM_KEYS_KEPT as MOST
from actors.connect.units_extensions import MAX_OWNED as MAX_EXTENSIONS
from actors.networks.units_claims import MAX_DOMAINS
from actors.networks.units_networks import MAX_NETWORKS, MAX_SERVERS, MAX_TOKENS
from persistence.connection import Connection
from tests.connect.play import SERVERS, fill, register
from tests.networks.play import network
from tests.support.world import World, open_world

AT_ONCE = 100


async def at_once(ask: Callable[[int], Awaitable[httpx2.Response]]) -> list[httpx2.Response]:
    """The answers of a hundred requests that are under way together."""
    answers: list[httpx2.Response] = []

    async def one(number: int) -> None:
        answers.append(await ask(number))

    async with trio.open_nursery() as nursery:
        for number in range(AT_ONCE):
            nursery.start_soon(one, number)
    return answers


def check(answers: list[httpx2.Response], room: int, *, limit: int | None = None, made: int = 201) -> None:
    """So many were made as there was room for; all others were told of the limit, which is the room if left out."""
    refused = [answer for answer in answers if answer.status_code != made]
    assert len(answers) - len(refused) == room
    problems: list[Any] = [answer.json() for answer in refused]
    assert {(one["status"], one["code"], one["meta"]["max"]) for one in problems} == {
        (422, "QUOTA_EXCEEDED", room if limit is None else limit)
    }


async def _claim_keys(conn: Connection) -> int:
    count: int = await conn.fetchval("SELECT count(*) FROM connect_claim_keys")
    return count


async def test_strangers_never_register_more_than_all_of_them_may(database_url: str, tmp_path: Path):
    settings = {"rate_limits": "off", "max_unclaimed_servers": "20"}
    async with open_world(database_url, tmp_path, **settings) as world:
        body = {"serverType": "paper", "serverName": "x"}
        nobody = world.nobody()
        answers = await at_once(lambda _: nobody.ask("POST", f"{SERVERS}/register", body))
        check(answers, 20)
        ann = await world.player("Ann")
        key = next(answer.json()["claimKey"] for answer in answers if answer.status_code == 201)
        await ann.do("POST", f"{SERVERS}/claim", {"claimKey": key}, status=200)
        await register(world)  # a claimed one made room
        assert (await nobody.refused("POST", f"{SERVERS}/register", body))[0] == 422


async def test_claim_keys_never_grow_with_the_requests_for_them(database_url: str, tmp_path: Path):
    """So many rows however often a server asks; the newest are good."""
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann = await world.player("Ann")
        server = await register(world)
        keys = [(await server.get(f"{server.path}/claim-key"))["claimKey"] for _ in range(MOST + 2)]
        assert await world.service.database.read(_claim_keys) == MOST
        for former in (server.claim_key, keys[0], keys[-MOST - 1]):
            claim = {"claimKey": former}
            assert await ann.refused("POST", f"{SERVERS}/claim", claim) == (404, "NOT_FOUND")
        await ann.do("POST", f"{SERVERS}/claim", {"claimKey": keys[-MOST]}, status=200)


async def test_a_claim_key_is_good_for_five_minutes_however_often_its_server_asks(world: World):
    ann, server = await world.player("Ann"), await register(world)
    for _ in range(120):
        answer = await server.ask("GET", f"{server.path}/claim-key")
        if answer.status_code == 429:
            world.clock.advance(3_000)
    await ann.do("POST", f"{SERVERS}/claim", {"claimKey": server.claim_key}, status=200)


async def test_claim_keys_are_never_asked_for_at_the_rate_of_everything(world: World):
    server = await register(world)
    response = await server.ask("GET", f"{server.path}/claim-key")
    assert response.headers["ratelimit-policy"] == '"claim-key";q=20;w=60'


async def test_a_user_never_claims_more_servers_than_they_may(database_url: str, tmp_path: Path):
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann = await world.player("Ann")
        fill(database_url, ann, MAX_OWNED - 10)
        keys = [(await register(world)).claim_key for _ in range(AT_ONCE)]
        answers = await at_once(lambda at: ann.ask("POST", f"{SERVERS}/claim", {"claimKey": keys[at]}))
        made = sum(answer.status_code == 200 for answer in answers)
        assert made == 10
        assert {answer.json()["meta"]["max"] for answer in answers if answer.status_code != 200} == {
            MAX_OWNED
        }
        assert len((await ann.get(SERVERS))["items"]) == MAX_OWNED


async def test_a_network_never_takes_in_more_servers_than_it_may(database_url: str, tmp_path: Path):
    """Moved in by PATCH; one that is in there already stays, and a join is told the same."""
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann = await world.player("Ann")
        net = await network(ann)
        servers = [await register(world) for _ in range(AT_ONCE)]
        for server in servers:
            await ann.do("POST", f"{SERVERS}/claim", {"claimKey": server.claim_key}, status=200)
        fill(database_url, ann, MAX_SERVERS - 10, net.id)
        wish = {"networkId": net.id}
        answers = await at_once(lambda at: ann.ask("PATCH", servers[at].path, wish))
        check(answers, 10, limit=MAX_SERVERS, made=200)
        inside = next(one.json()["serverId"] for one in answers if one.status_code == 200)
        await ann.do("PATCH", f"{SERVERS}/{inside}", wish, status=200)
        join = {"joinToken": await net.token(), "name": "Node"}
        refused = await world.nobody().ask("POST", "/v1/connect/networks/join", join)
        assert (refused.status_code, refused.json()["meta"]) == (422, {"max": MAX_SERVERS})


async def test_a_user_never_makes_more_extensions_or_networks_than_they_may(
    database_url: str, tmp_path: Path
):
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann = await world.player("Ann")

        def extension(at: int) -> Awaitable[httpx2.Response]:
            return ann.ask("POST", "/v1/connect/extensions", {"extensionId": f"e{at}", "name": "E"})

        check(await at_once(extension), MAX_EXTENSIONS)
        check(
            await at_once(lambda at: ann.ask("POST", "/v1/connect/networks", {"name": f"N{at}"})),
            MAX_NETWORKS,
        )


async def _count(conn: Connection, table: str) -> int:
    count: int = await conn.fetchval(f"SELECT count(*) FROM {table}")
    return count


async def test_a_network_never_claims_more_domains_nor_has_more_tokens_than_it_may(
    database_url: str, tmp_path: Path
):
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann = await world.player("Ann")
        net = await network(ann)
        for at in range(MAX_DOMAINS - 10):
            await net.claim(f"first{at}.example.org")
        claims = await at_once(lambda at: ann.ask("POST", net.domains, {"domain": f"d{at}.example.org"}))
        check(claims, 10, limit=MAX_DOMAINS)
        await at_once(lambda _: ann.ask("POST", f"{net.path}/join-token"))
        assert await world.service.database.read(_count, "network_join_tokens") == MAX_TOKENS
