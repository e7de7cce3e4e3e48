"""The reaction of the counts to committed publications: their category is read again."""

from actors.publications.units import Published
from routes.changes import Reaction
from routes.games.parts import GAMES_LIVE
from routes.service import Service


def _published(service: Service, event: Published) -> None:
    service.of(GAMES_LIVE).publication_changed(event.target.id)


REACTIONS = (Reaction(Published, _published),)
