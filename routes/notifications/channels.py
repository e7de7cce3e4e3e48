"""The channel `notifications` of `/v1/social/live`, whose offsets are durable (contract §9).

| snapshot              | events in delta mode                     |
|-----------------------|------------------------------------------|
| NotificationsSnapshot | notification_added, notifications_read   |
"""

from actors.notifications.view import NAME
from actors.notifications.view import NOTIFICATIONS as VIEW
from routes.live.channel import LiveChannel, the_user

NOTIFICATIONS = LiveChannel(
    name=NAME,
    needs=None,
    shown=lambda _service: VIEW,
    viewer=the_user,
)
