"""The Domain record of banners."""

from persistence.banners.exported import EXPORTED
from routes.banners import own, pictures
from routes.banners.parts import BANNER_DRAWING
from routes.domain import Domain
from routes.edge.declare.mounts import Mount

BANNERS = Domain(
    name="banners",
    mounts=(Mount("banners", (own, pictures)),),
    parts=(BANNER_DRAWING,),
    exported=EXPORTED,
)
