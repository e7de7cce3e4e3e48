"""Finds out, after an unknown outcome, whether a network was removed."""

from collections.abc import Sequence
from typing import NamedTuple

from persistence.networks import networks
from routes.changes import Reconciliation
from routes.service import Service


class RemovalOf(NamedTuple):
    """Reconciliation subject: a network that may have been removed."""

    network_id: str


async def _ask(service: Service, about: RemovalOf, events: Sequence[object]) -> Sequence[object]:
    return events if await service.database.read(networks.read, about.network_id) is None else ()


RECONCILIATIONS = (Reconciliation(RemovalOf, _ask),)
"""Networks have nothing in memory themselves: other domains react to what happens to them."""
