"""The Domain record of moderation."""

from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.moderation import notes
from routes.moderation.channels import QUEUES
from routes.moderation.reactions import REACTIONS

MODERATION = Domain(
    name="moderation",
    mounts=(Mount("moderation", (notes,)),),
    channels=(QUEUES,),
    reactions=REACTIONS,
)
