"""The reaction of the queues of moderators to what is reported, submitted, judged, or gone, and to their roles."""

from actors.moderation.events import QueueMoved
from actors.moderation.queues import MODERATION, NAME
from actors.users.events import UserChanged, UserErased
from routes.changes import Reaction
from routes.service import Service

_ROWS = "rows"
"""The one source of the view."""


def _moved(service: Service, _event: QueueMoved) -> None:
    service.system.touched_if(NAME, lambda _: True, _ROWS)


def _erased(service: Service, _event: UserErased) -> None:
    service.system.touched_if(NAME, lambda _: True, _ROWS)


def _changed(service: Service, event: UserChanged) -> None:
    service.system.changed(MODERATION, event.user_id, _ROWS)


REACTIONS = (Reaction(QueueMoved, _moved), Reaction(UserErased, _erased), Reaction(UserChanged, _changed))
