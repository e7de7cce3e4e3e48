"""Reactions of the worker and of the memory of servers to committed changes, and to the erasure of owners."""

from actors.discord.units import DiscordChanged
from actors.news.units_publishing import ArticleChanged
from actors.publications.units import Published
from persistence.discord import servers
from routes.changes import Reaction
from routes.discord.following import watch
from routes.discord.parts import WEBHOOKS
from routes.service import Service


async def _changed(service: Service, event: DiscordChanged) -> None:
    service.of(WEBHOOKS).sender.wake()
    watched = await service.database.read(servers.watched_one, event.network_id)
    watch(service, event.network_id, watched)


async def forget_networks(service: Service, _user_id: str) -> None:
    """Have all nodes forget networks that were deleted with their owner.

    Raises:
        DatabaseUnavailable: the database cannot be asked which networks these are.
    """
    uptime = service.of(WEBHOOKS).uptime
    watched = uptime.networks()
    still = await service.database.read(servers.still_watched, watched)
    for network_id in set(watched) - still:
        uptime.unwatch(network_id)
        if service.node is not None:
            service.node.retelling.tell(DiscordChanged(network_id))


def _wake(service: Service, _event: ArticleChanged | Published) -> None:
    service.of(WEBHOOKS).sender.wake()


REACTIONS = (
    Reaction(DiscordChanged, _changed),
    Reaction(ArticleChanged, _wake),
    Reaction(Published, _wake),
)
"""After an unknown outcome `DiscordChanged` is called again: it reads what rows say."""
