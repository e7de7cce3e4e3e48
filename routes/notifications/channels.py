"""The channel `notifications` of `/v1/social/live`, whose offsets are durable (contract §9).

| snapshot              | events in delta mode                     |
|-----------------------|------------------------------------------|
| NotificationsSnapshot | notification_added, notifications_read   |
"""

from actors.notifications.view import NAME, NotificationAdded, NotificationsRead, NotificationsSnapshot
from actors.notifications.view import NOTIFICATIONS as VIEW
from routes.edge.declare.shown import Shown
from routes.live.channel import LiveChannel, the_user

NOTIFICATIONS = LiveChannel(
    name=NAME,
    shown=lambda _service: VIEW,
    viewer=the_user,
    shows=Shown(
        says="The user's newest notifications, and how many are unread. Offsets are durable.",
        snapshot=NotificationsSnapshot,
        events={"notification_added": NotificationAdded, "notifications_read": NotificationsRead},
    ),
)
