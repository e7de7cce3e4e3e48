"""The Domain record of notifications."""

from collections.abc import Collection

from actors.ids import UserId
from actors.notifications.view import NOTIFICATIONS as VIEW
from actors.users.forgetting import forget_in_notifications
from persistence.notifications.exported import EXPORTED
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.notifications import listing
from routes.notifications.channels import NOTIFICATIONS as CHANNEL
from routes.notifications.jobs import jobs_of
from routes.notifications.reactions import REACTIONS
from routes.service import Service


async def _forget_user(service: Service, user_id: UserId) -> None:
    def tell(user_ids: Collection[str]) -> None:
        service.system.touched_everywhere(VIEW.name, user_ids, "notifications")

    await forget_in_notifications(service.database, user_id, tell)


NOTIFICATIONS = Domain(
    name="notifications",
    mounts=(Mount("notifications", (listing,)),),
    channels=(CHANNEL,),
    jobs=jobs_of,
    reactions=REACTIONS,
    forget_user=_forget_user,
    exported=EXPORTED,
)
