"""The Domain record of Discord webhooks."""

from persistence.discord.exported import EXPORTED
from routes.discord import follow, webhooks
from routes.discord.jobs import jobs_of
from routes.discord.parts import WEBHOOKS
from routes.discord.reactions import REACTIONS, RECONCILIATIONS, follow_ends_of_nodes
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.jobs import BackgroundTask, Job
from routes.service import Service


def _follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    follow_ends_of_nodes(service)
    return follow.follow(service)


DISCORD = Domain(
    name="discord",
    mounts=(Mount("connect-discord", (webhooks,)),),
    parts=(WEBHOOKS,),
    jobs=jobs_of,
    follow=_follow,
    reactions=REACTIONS,
    reconciliations=RECONCILIATIONS,
    exported=EXPORTED,
)
