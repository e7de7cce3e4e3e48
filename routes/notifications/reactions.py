"""The reaction of the view of notifications to rows that were added, marked or deleted."""

from actors.notifications.view import NOTIFICATIONS, NotificationsChanged
from routes.changes import Reaction
from routes.service import Service


def _changed(service: Service, event: NotificationsChanged) -> None:
    service.system.changed(NOTIFICATIONS, event.user_id, "notifications")


REACTIONS = (Reaction(NotificationsChanged, _changed),)
