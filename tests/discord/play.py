"""Discord webhooks for tests: networks that have one, and what waits for it or has been posted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from persistence.connection import Connection
from persistence.discord import webhooks
from persistence.discord.rows import WebhookRow
from routes.discord.parts import WEBHOOKS
from scripts.upstreams.discord import GUILD, DiscordSite, DiscordWebhook
from tests.networks.play import Net, network
from tests.support.jobs import job_named
from tests.support.waiting import wait_until
from tests.support.world import Player, World

EVENTS = ("server_online", "server_offline", "news_published", "member_joined", "publication_listed")
FAR_MS = 10**15


@dataclass
class Guild:
    """A service, and the Discord that it posts to.

    Args:
        world: the service; Discord's time goes by its clock.
        site: the Discord.
    """

    world: World
    site: DiscordSite

    @property
    def webhook(self) -> DiscordWebhook:
        """The first webhook."""
        return next(iter(self.site.webhooks.values()))

    async def network(self, owner: Player, name: str = "Sky", *, events: Sequence[str] = EVENTS) -> Net:
        """A network that posts to the first webhook."""
        net = await network(owner, name)
        assert (await put(net, events=list(events), webhookUrl=self.site.url(self.webhook)))[
            "webhookStatus"
        ] == "active"
        return net

    def wake(self) -> None:
        """Have the service look at the queues of posts now."""
        for service in self.world.services:
            service.of(WEBHOOKS).sender.wake()

    def later(self, seconds: float) -> None:
        """Let time pass, and have the service look at the queues of posts."""
        self.world.advance(int(seconds * 1000))
        self.wake()

    async def posted(self, count: int) -> list[str]:
        """Wait until the first webhook has got so many posts; returns their texts."""

        async def so_many() -> bool:
            self.wake()
            return len(self.webhook.posts) >= count

        await wait_until(so_many)
        return [said(post) for post in self.webhook.posts]

    async def until(self, net: Net, status: str) -> None:
        """Return once the network's webhook has this status."""

        async def so() -> bool:
            self.wake()
            return (await shown(net))["webhookStatus"] == status

        await wait_until(so)

    def impatient(self) -> None:
        """Have the service wait for Discord no longer than a moment from now on, for tests where Discord never
        answers."""
        for service in self.world.services:
            service.of(WEBHOOKS).api._upstream._seconds = 0.3

    async def halted(self) -> None:
        """Return once the service knows that Discord refuses everybody."""

        async def so() -> bool:
            self.wake()
            return any(service.of(WEBHOOKS).api.halted_ms > 0 for service in self.world.services)

        await wait_until(so)

    async def drained(self, net: Net) -> None:
        """Return once no post of the network waits."""

        async def empty() -> bool:
            self.wake()
            return not await queue(self.world, net.id)

        await wait_until(empty)

    async def row(self, net: Net) -> WebhookRow:
        """The row of the network's webhook."""
        row = await self.world.service.database.read(webhooks.read, net.id)
        assert row is not None
        return row

    async def attempts(self, net: Net) -> list[int]:
        """How often each post that waits has failed."""

        async def read(conn: Connection) -> list[int]:
            rows = await conn.fetch(
                "SELECT attempts FROM discord_outbox WHERE network_id = $1 ORDER BY seq", net.id
            )
            return [row["attempts"] for row in rows]

        return await self.world.service.database.read(read)

    async def tell_of_servers(self) -> None:
        """Run once the job that notices servers which have come or gone."""
        await job_named(self.world, "statuses of game servers").run()
        assert await job_named(self.world, "servers that come and go").run() is not False


def said(post: dict[str, Any]) -> str:
    """The text of a message."""
    (embed,) = post["embeds"]
    return embed.get("title") or embed["description"]


async def put(net: Net, *, by: Player | None = None, status: int = 200, **body: object) -> Any:
    """Put the network's settings of Discord; returns them."""
    sent = {"guildId": GUILD, "events": list(EVENTS), **body}
    return (await (by or net.owner).do("PUT", f"{net.path}/discord", sent, status=status))["discord"]


async def shown(net: Net) -> Any:
    """The network's settings of Discord."""
    return (await net.owner.get(f"{net.path}/discord"))["discord"]


async def waiting_webhook(world: World, network_id: str) -> None:
    """Give a network a webhook to which nothing is sent, so that posts stay in the queue."""
    row = WebhookRow(
        network_id=network_id, guild_id=GUILD, invite_url=None, events=EVENTS, webhook_status="unreachable",
        webhook_id="1", sealed_token=b"sealed", due_at_ms=FAR_MS, created_at_ms=0, updated_at_ms=0,
    )  # fmt: skip
    await world.service.database.transact(webhooks.put, row)


async def queue(world: World, network_id: str) -> list[tuple[str, str]]:
    """(event, the main thing that it is about) of each post that waits."""

    async def read(conn: Connection) -> list[tuple[str, str]]:
        rows = await conn.fetch(
            "SELECT event, coalesce(news_id, publication_id, user_id, server_id) AS about FROM discord_outbox"
            " WHERE network_id = $1 ORDER BY seq",
            network_id,
        )
        return [(row["event"], row["about"]) for row in rows]

    return await world.service.database.read(read)
