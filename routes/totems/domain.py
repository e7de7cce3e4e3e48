"""The Domain record of totems."""

from persistence.totems.exported import EXPORTED
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.totems import models, own
from routes.totems.parts import TOTEM_CHECKS

TOTEMS = Domain(
    name="totems",
    parts=(TOTEM_CHECKS,),
    mounts=(Mount("totem", (models, own)),),
    exported=EXPORTED,
)
