"""The Domain record of friends."""

from persistence.friends.exported import EXPORTED
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.friends import blocks, links, lists, requests, streams
from routes.friends.channels import FRIENDS as CHANNEL
from routes.friends.follow import follow
from routes.friends.jobs import jobs_of
from routes.friends.parts import FRIENDS_LIVE, STREAKS
from routes.friends.reactions import REACTIONS, RECONCILIATIONS
from routes.jobs import BackgroundTask, Job
from routes.service import Service
from routes.users.parts import RIGHTS


def _follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    system = service.system
    service.of(FRIENDS_LIVE).follow(system.touched, system.touched_everywhere, system.touched_being_read)
    service.of(FRIENDS_LIVE).on_visibility_change(
        lambda viewer_id, _user_id, _to_friends: service.of(RIGHTS).moved(viewer_id)
    )
    return (follow(service),)


FRIENDS = Domain(
    name="friends",
    mounts=(Mount("friends", (lists, requests, links, blocks, streams)),),
    parts=(FRIENDS_LIVE, STREAKS),
    channels=(CHANNEL,),
    jobs=jobs_of,
    follow=_follow,
    reactions=REACTIONS,
    reconciliations=RECONCILIATIONS,
    exported=EXPORTED,
)
