"""The Domain record of Discord webhooks."""

from persistence.discord.exported import EXPORTED
from routes.discord import webhooks
from routes.discord.follow import follow
from routes.discord.jobs import jobs_of
from routes.discord.parts import WEBHOOKS
from routes.discord.reactions import REACTIONS
from routes.domain import Domain
from routes.edge.declare.mounts import Mount

DISCORD = Domain(
    name="discord",
    mounts=(Mount("connect-discord", (webhooks,)),),
    parts=(WEBHOOKS,),
    jobs=jobs_of,
    follow=follow,
    reactions=REACTIONS,
    exported=EXPORTED,
)
