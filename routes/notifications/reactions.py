"""What the view of notifications makes of rows that were added, read or forgotten."""

from actors.notifications.view import NOTIFICATIONS, NotificationsChanged
from routes.changes import Reaction
from routes.service import Service


def _changed(service: Service, event: NotificationsChanged) -> None:
    service.system.changed(NOTIFICATIONS, event.user_id, "notifications")


REACTIONS = (Reaction(NotificationsChanged, _changed),)
