"""`kill -9` of the server around the moments at which articles publish themselves: each is published at its moment, and
each follower is notified of each once.
"""

import secrets
import time
from collections import Counter
from random import Random
from typing import Any

import httpx2
import pytest
import trio

from actors.time import iso
from routes.edge.identity.keys import open_keys
from tests.support.process import ServerProcess, server_process
from tests.support.waiting import PATIENCE_SECONDS, wait_until

KILLS = 4
FOLLOWERS = 3
ARTICLES = 3
SEED = 20_261_123
AHEAD_SECONDS = 0.6
SPREAD_SECONDS = 1.6
"""Articles and kills fall into so long a time; the jobs run once a second."""


class Person:
    """A user of the server.

    Args:
        number: which one.
    """

    def __init__(self, server: ServerProcess, client: httpx2.AsyncClient, number: int) -> None:
        minted = open_keys(server.data_dir).mint_user_token(
            f"{number:08d}-0000-4000-8000-000000000000",
            f"user{number}",
            now_ms=time.time_ns() // 1_000_000,
            ttl_seconds=3600,
            random_bytes=secrets.token_bytes,
        )
        self._headers = {"authorization": f"Bearer {minted.token}"}
        self._client = client

    async def ask(self, method: str, path: str, body: object = None) -> Any:
        """The JSON of a request."""
        answer = await self.answer(method, path, body)
        assert answer.status_code in {200, 201}, answer.text
        return answer.json()

    async def answer(self, method: str, path: str, body: object = None) -> httpx2.Response:
        """The answer to a request."""
        return await self._client.request(method, path, json=body, headers=self._headers)

    async def told(self) -> Counter[str]:
        """{article: how often they were notified of it}."""
        items = (await self.ask("GET", "/v1/notifications?limit=200"))["items"]
        return Counter(one["data"]["newsId"] for one in items if one["kind"] == "news")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


async def _write(writer: Person, scope: dict[str, str], moment_ms: int) -> tuple[str, str]:
    """Id and moment of a scheduled article; the moment is a later one where the machine has slept through that."""
    article = {"scope": scope, "title": "t", "body": "b", "notify": True, "status": "scheduled"}
    while True:
        answer = await writer.answer("POST", "/v1/news", article | {"publishAt": iso(moment_ms)})
        if answer.status_code == 201:
            return answer.json()["id"], iso(moment_ms)
        assert [error["code"] for error in answer.json()["errors"]] == ["PAST"], answer.text
        moment_ms = _now_ms() + int(AHEAD_SECONDS * 1000)


@pytest.mark.drill
async def test_kill_nine_forgets_and_repeats_no_publication() -> None:
    rng, moments = Random(SEED), dict[str, str]()
    async with (
        server_process() as server,
        httpx2.AsyncClient(base_url=server.url, timeout=PATIENCE_SECONDS) as client,
    ):
        writer, *followers = (Person(server, client, number) for number in range(1 + FOLLOWERS))
        made = await writer.ask("POST", "/v1/connect/networks", {"name": "n"})
        scope = {"type": "network", "id": made["network"]["networkId"]}
        for follower in followers:
            await follower.ask("PUT", "/v1/news/follows", {"items": [scope]})
        for _ in range(KILLS):
            begin_ms = _now_ms() + int(AHEAD_SECONDS * 1000)
            for _ in range(ARTICLES):
                id, moment = await _write(writer, scope, begin_ms + rng.randrange(int(SPREAD_SECONDS * 1000)))
                moments[id] = moment
            await trio.sleep(AHEAD_SECONDS + rng.uniform(0, SPREAD_SECONDS))
            await server.kill()
            await server.start()
        # The oldest are announced first: what is announced after all others is told after them.
        last, moment = await _write(
            writer, scope, max(_now_ms() + 200, begin_ms + int(SPREAD_SECONDS * 1000))
        )
        moments[last] = moment
        for follower in followers:

            async def was_told(follower: Person = follower) -> bool:
                return last in await follower.told()

            await wait_until(was_told)
            assert await follower.told() == dict.fromkeys(moments, 1)
        shown = (await writer.ask("GET", "/v1/public/news?limit=100"))["items"]
        assert {one["id"]: one["publishedAt"] for one in shown} == moments
        assert await server.stop() == 0
