"""The Domain record of catalogs."""

from routes.catalogs import banners, heads, lists
from routes.domain import Domain
from routes.edge.declare.mounts import Mount

CATALOGS = Domain(name="catalogs", mounts=(Mount("catalogs", (lists, heads, banners)),))
