"""The reaction of the queues of moderators to what is reported, submitted, judged, or gone."""

from actors.moderation.events import QueueMoved
from actors.moderation.queues import MODERATION, NAME
from actors.users.events import UserErased
from routes.changes import Reaction
from routes.service import Service


def _moved(service: Service, _event: QueueMoved) -> None:
    service.system.changed(MODERATION, NAME, NAME)


def _erased(service: Service, _event: UserErased) -> None:
    service.system.changed(MODERATION, NAME, NAME)


REACTIONS = (Reaction(QueueMoved, _moved), Reaction(UserErased, _erased))
