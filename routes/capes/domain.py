"""Capes, as the service knows them."""

from typing import TYPE_CHECKING

from routes.capes import catalog, moderation, own, selection, terms
from routes.domain import Domain
from routes.edge.declare.endpoint import Mount
from routes.housekeeping import Job

if TYPE_CHECKING:
    from routes.service import Service


def _jobs(service: "Service") -> tuple[Job, ...]:
    return (Job("downloads of capes", 1, service.capes.downloads.flush),)


CAPES = Domain(
    name="capes", mounts=(Mount("capes", (catalog, own, selection, terms, moderation)),), jobs=_jobs
)
