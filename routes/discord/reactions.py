"""Reactions of the worker and of the memory of servers to committed changes, and to the removal of networks."""

from actors.discord.units import DiscordChanged
from actors.networks.units_removal import NetworkRemoved
from actors.news.units_publishing import ArticleChanged
from actors.publications.units import Published
from persistence.discord import servers
from routes.changes import Reaction
from routes.discord.follow import watch
from routes.discord.parts import WEBHOOKS
from routes.service import Service


async def _changed(service: Service, event: DiscordChanged) -> None:
    service.of(WEBHOOKS).sender.wake()
    # One after the other: what was read before a later change must not be taken in after it.
    async with service.turnstile.turn(_turn_of(event.network_id)):
        watched = await service.database.read(servers.watched_one, event.network_id)
        watch(service, event.network_id, watched)


async def _removed(service: Service, event: NetworkRemoved) -> None:
    async with service.turnstile.turn(_turn_of(event.network_id)):
        service.of(WEBHOOKS).uptime.unwatch(event.network_id)


def _turn_of(network_id: str) -> str:
    return f"servers watched for the Discord of {network_id}"


def _wake(service: Service, _event: ArticleChanged | Published) -> None:
    service.of(WEBHOOKS).sender.wake()


REACTIONS = (
    Reaction(DiscordChanged, _changed),
    Reaction(NetworkRemoved, _removed),
    Reaction(ArticleChanged, _wake),
    Reaction(Published, _wake),
)
"""After an unknown outcome `DiscordChanged` is called again: it reads what rows say."""
