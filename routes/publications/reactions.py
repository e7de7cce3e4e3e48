"""The reaction of the statuses in memory to committed publications."""

from actors.publications.units import Published
from routes.changes import Reaction
from routes.publications.parts import STATUSES
from routes.service import Service


def _published(service: Service, event: Published) -> None:
    service.of(STATUSES).published(event.target)


REACTIONS = (Reaction(Published, _published),)
