"""The Domain record of networks."""

from persistence.networks.exported import EXPORTED
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.networks import dns, domains, networks
from routes.networks.erasing import let_go
from routes.networks.jobs import jobs_of
from routes.networks.name_service import NAME_SERVICE
from routes.networks.reactions import RECONCILIATIONS

NETWORKS = Domain(
    name="networks",
    mounts=(Mount("networks", (networks, domains, dns)),),
    parts=(NAME_SERVICE,),
    jobs=jobs_of,
    reconciliations=RECONCILIATIONS,
    let_go=let_go,
    exported=EXPORTED,
)
