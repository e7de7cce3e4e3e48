"""Reactions of the worker and of the memory of servers to committed changes, and to the removal of networks."""

from collections.abc import Sequence

import msgspec

from actors.discord.units import DiscordChanged
from actors.networks.units_removal import NetworkRemoved
from actors.news.units_publishing import ArticleChanged
from actors.publications.units import Published
from persistence.discord import servers
from routes.changes import Reaction, Reconciliation, reconcile_when_parted
from routes.discord.follow import watch
from routes.discord.parts import WEBHOOKS
from routes.service import Service


class MissedChoices(msgspec.Struct, frozen=True):
    """Reconciliation subject: which networks want posts about their servers, since a node that has ended may not have
    told of all such changes."""


def follow_ends_of_nodes(service: Service) -> None:
    """Subscribe: have memory read which servers are to be watched when another node has ended."""
    reconcile_when_parted(service, MissedChoices())


async def _changed(service: Service, event: DiscordChanged) -> None:
    service.of(WEBHOOKS).sender.wake()
    await _watch(service, event.network_id)


async def _watch(service: Service, network_id: str) -> None:
    # One after the other: what was read before a later change must not be taken in after it.
    async with service.turnstile.turn(_turn_of(network_id)):
        watch(service, network_id, await service.database.read(servers.watched_one, network_id))


async def _removed(service: Service, event: NetworkRemoved) -> None:
    async with service.turnstile.turn(_turn_of(event.network_id)):
        service.of(WEBHOOKS).uptime.unwatch(event.network_id)


async def _look(service: Service, _about: MissedChoices, _events: Sequence[object]) -> tuple[()]:
    """Watch what rows say, one network after the other."""
    service.of(WEBHOOKS).sender.wake()
    rows = {row.network_id for row in await service.database.read(servers.watched)}
    for network_id in sorted(rows ^ set(service.of(WEBHOOKS).uptime.networks())):
        await _watch(service, network_id)
    return ()


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

RECONCILIATIONS = (Reconciliation(MissedChoices, _look),)
