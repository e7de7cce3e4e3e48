"""The Domain record of geolocation."""

from functools import partial

import trio

from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.ip import addresses
from routes.ip.parts import PLACES
from routes.jobs import Job, looking
from routes.service import Service


def _jobs(service: Service) -> tuple[Job, ...]:
    return (looking("GeoIP database", 30, partial(service.of(PLACES).refresh, trio.to_thread.run_sync)),)


IP = Domain(name="ip", mounts=(Mount("ip", (addresses,)),), parts=(PLACES,), jobs=_jobs)
