"""The reaction of the statuses in memory to committed publications."""

from actors.networks.units_removal import NetworkRemoved
from actors.publications.units import Published
from persistence.publications.rows import Target
from routes.changes import Reaction
from routes.publications.parts import STATUSES
from routes.service import Service


def _published(service: Service, event: Published) -> None:
    service.of(STATUSES).published(event.target)


def _removed(service: Service, event: NetworkRemoved) -> None:
    service.of(STATUSES).published(Target("network", event.network_id))


REACTIONS = (Reaction(Published, _published), Reaction(NetworkRemoved, _removed))
