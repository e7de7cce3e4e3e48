"""`kill -9` around posts to Discord: none is posted twice, and only those are lost that Discord may have received.

`KILL_ROUNDS=50` in the environment makes more rounds of it.
"""

import os
from collections import Counter
from random import Random
from typing import Any

import httpx2
import pytest
import trio

from scripts.upstreams.discord import GUILD, DiscordSite
from scripts.upstreams.sites import Sites
from tests.discord.play import said
from tests.support.process import server_process
from tests.support.waiting import PATIENCE_SECONDS, patience, wait_until

ROUNDS = int(os.environ.get("KILL_ROUNDS", "6"))
SEED = 20_261_124
AIM_SECONDS = 0.05
POSTS = 3


class Owner:
    """The owner of a network with a webhook, who writes articles.

    Args:
        bearer: their token.
    """

    def __init__(self, client: httpx2.AsyncClient, bearer: str) -> None:
        self._client = client
        self._headers = {"authorization": f"Bearer {bearer}"}
        self.scope: dict[str, str] = {}

    async def ask(self, method: str, path: str, body: object = None) -> Any:
        """The JSON of a request."""
        answer = await self._client.request(method, path, json=body, headers=self._headers)
        assert answer.status_code in {200, 201}, answer.text
        return answer.json()

    async def begin(self, url: str) -> None:
        """Make the network and set its webhook."""
        made = await self.ask("POST", "/v1/connect/networks", {"name": "n"})
        self.scope = {"type": "network", "id": made["network"]["networkId"]}
        body = {"guildId": GUILD, "events": ["news_published"], "webhookUrl": url}
        await self.ask("PUT", f"/v1/connect/networks/{self.scope['id']}/discord", body)

    async def write(self, title: str) -> None:
        """Publish an article."""
        body = {"scope": self.scope, "title": title, "body": "b", "status": "published"}
        await self.ask("POST", "/v1/news", body)


@pytest.mark.drill
async def test_kill_nine_doubles_no_post_and_loses_none_without_doubt() -> None:
    rng, site, titles, lost = Random(SEED), DiscordSite(), list[str](), 0
    site.limit = 1_000
    (webhook,) = site.webhooks.values()
    async with trio.open_nursery() as nursery:
        await nursery.start(Sites({"discord": site}).serve)
        async with (
            server_process(discord_url=site.base_url) as server,
            httpx2.AsyncClient(base_url=server.url, timeout=PATIENCE_SECONDS) as client,
        ):
            owner = Owner(client, await server.token("Ann"))
            await owner.begin(site.url(webhook))
            for round in range(ROUNDS):
                held = site.faults.add("held", on="POST") if round % 2 else None
                titles += [f"{round} {number}" for number in range(POSTS)]
                for title in titles[-POSTS:]:
                    await owner.write(title)
                if held is not None:  # Discord has the post, and its answer is not there yet
                    with patience():
                        await held.reached.wait()
                else:  # posts are being marked, sent, or noted as taken
                    await trio.sleep(rng.uniform(0, AIM_SECONDS))
                await server.kill()
                site.faults.clear()
                await server.start()
                last = f"after {round}"
                titles.append(last)
                await owner.write(last)

                async def posted(last: str = last) -> bool:
                    return bool(webhook.posts) and said(webhook.posts[-1]) == last

                await wait_until(posted)
                told = Counter(said(post) for post in webhook.posts)
                assert max(told.values()) == 1
                assert len(titles) - len(told) <= lost + 1
                lost = len(titles) - len(told)
            assert [title for title in titles if title in told] == [said(post) for post in webhook.posts]
            assert await server.stop() == 0
        nursery.cancel_scope.cancel()
    print(f"{ROUNDS} kills (seed {SEED}): {len(titles)} posts, {lost} in doubt and not sent, none twice")
