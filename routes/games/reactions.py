"""The reactions of the counts to publications that have changed or gone: their category is read again."""

from actors.networks.units_removal import NetworkRemoved
from actors.publications.units import Published
from routes.changes import Reaction
from routes.games.parts import GAMES_LIVE
from routes.service import Service


def _published(service: Service, event: Published) -> None:
    service.of(GAMES_LIVE).publication_changed(event.target.id)


def _removed(service: Service, event: NetworkRemoved) -> None:
    service.of(GAMES_LIVE).publication_changed(event.network_id)


REACTIONS = (Reaction(Published, _published), Reaction(NetworkRemoved, _removed))
