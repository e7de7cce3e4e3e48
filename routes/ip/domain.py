"""Where addresses are, as the service knows it."""

from functools import partial
from typing import TYPE_CHECKING

import trio

from routes.domain import Domain
from routes.edge.declare.endpoint import Mount
from routes.housekeeping import Job
from routes.ip import addresses

if TYPE_CHECKING:
    from routes.service import Service


def _jobs(service: "Service") -> tuple[Job, ...]:
    return (Job("GeoIP database", 30, partial(service.places.refresh, trio.to_thread.run_sync)),)


IP = Domain(name="ip", mounts=(Mount("ip", (addresses,)),), jobs=_jobs)
