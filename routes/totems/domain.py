"""Totems, as the service knows them."""

from routes.domain import Domain
from routes.edge.declare.endpoint import Mount
from routes.totems import choosing, models

TOTEMS = Domain(name="totems", mounts=(Mount("totem", (models, choosing)),))
