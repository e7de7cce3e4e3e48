"""Friends, as the service knows them."""

from typing import TYPE_CHECKING

from routes.domain import Domain
from routes.edge.declare.endpoint import Mount
from routes.friends import blocks, links, lists, requests, streams
from routes.friends.channels import FRIENDS as CHANNEL
from routes.friends.jobs import jobs_of
from routes.housekeeping import Job, Standing

if TYPE_CHECKING:
    from routes.service import Service


def _follow(service: "Service") -> tuple[Job | Standing, ...]:
    service.friends.follow(service.system.touched)
    service.friends.on_visibility_change(lambda viewer_id, _user_id: service.rights.moved(viewer_id))
    return ()


FRIENDS = Domain(
    name="friends",
    mounts=(Mount("friends", (lists, requests, links, blocks, streams)),),
    channels=(CHANNEL,),
    jobs=jobs_of,
    follow=_follow,
)
