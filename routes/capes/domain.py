"""The Domain record of capes."""

from persistence.capes.exported import EXPORTED
from routes.capes import catalog, moderation, own, selection, terms
from routes.capes.textures import CAPE_WORKSHOP
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.jobs import Job
from routes.service import Service


def _jobs(service: Service) -> tuple[Job, ...]:
    return (Job("downloads of capes", 1, service.of(CAPE_WORKSHOP).downloads.flush),)


CAPES = Domain(
    name="capes",
    mounts=(Mount("capes", (catalog, own, selection, terms, moderation)),),
    parts=(CAPE_WORKSHOP,),
    jobs=_jobs,
    exported=EXPORTED,
)
