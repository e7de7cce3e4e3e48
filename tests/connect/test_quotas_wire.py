"""What one user, or all strangers together, can make: exact also when a hundred ask at the same moment."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import trio

from persistence.connection import Connection
from tests.connect.play import SERVERS, register
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


def check(answers: list[httpx2.Response], most: int, *, made: int = 201) -> None:
    """So many were made; all others were told of the limit."""
    refused = [answer for answer in answers if answer.status_code != made]
    assert len(answers) - len(refused) == most
    problems: list[Any] = [answer.json() for answer in refused]
    assert {(one["status"], one["code"], one["meta"]["max"]) for one in problems} == {
        (422, "QUOTA_EXCEEDED", most)
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
    """Sixteen rows however often a server asks; the newest sixteen are good."""
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann = await world.player("Ann")
        server = await register(world)
        keys = [(await server.get(f"{server.path}/claim-key"))["claimKey"] for _ in range(40)]
        assert await world.service.database.read(_claim_keys) == 16
        for former in (server.claim_key, keys[0], keys[-17]):
            claim = {"claimKey": former}
            assert await ann.refused("POST", f"{SERVERS}/claim", claim) == (404, "NOT_FOUND")
        await ann.do("POST", f"{SERVERS}/claim", {"claimKey": keys[-16]}, status=200)


async def test_claim_keys_are_never_asked_for_at_the_rate_of_everything(world: World):
    server = await register(world)
    response = await server.ask("GET", f"{server.path}/claim-key")
    assert response.headers["ratelimit-policy"] == '"claim-key";q=20;w=60'
