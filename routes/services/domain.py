"""The Domain record of services."""

from persistence.services.exported import EXPORTED
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.services import services
from routes.services.jobs import jobs_of

SERVICES = Domain(
    name="services",
    mounts=(Mount("services", (services,)),),
    jobs=jobs_of,
    exported=EXPORTED,
)
