"""Notifications, as the service knows them."""

from typing import TYPE_CHECKING

from actors.ids import UserId
from actors.people.forgetting import forget_in_notifications
from routes.domain import Domain
from routes.edge.declare.endpoint import Mount
from routes.notifications import listing
from routes.notifications.channel import NOTIFICATIONS as CHANNEL
from routes.notifications.jobs import jobs_of

if TYPE_CHECKING:
    from routes.service import Service


async def _forget_user(service: "Service", user_id: UserId) -> None:
    for recipient_id in await forget_in_notifications(service.database, user_id):
        service.system.changed(service.notifications, recipient_id, "notifications")


NOTIFICATIONS = Domain(
    name="notifications",
    mounts=(Mount("notifications", (listing,)),),
    channels=(CHANNEL,),
    jobs=jobs_of,
    forget_user=_forget_user,
)
