"""The Domain record of publications."""

from persistence.publications.exported import EXPORTED
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.publications import moderating, own, pages, public, status, targets
from routes.publications.follow import follow, show_gauges
from routes.publications.jobs import jobs_of
from routes.publications.parts import STATUSES
from routes.publications.reactions import REACTIONS

PUBLICATIONS = Domain(
    name="publications",
    mounts=(Mount("publications", (targets, status, own, public, moderating)), Mount("slugs", (pages,))),
    parts=(STATUSES,),
    jobs=jobs_of,
    follow=follow,
    reactions=REACTIONS,
    gauges=show_gauges,
    exported=EXPORTED,
)
