"""Networks, as the service knows them."""

from routes.domain import Domain
from routes.edge.declare.endpoint import Mount
from routes.networks import dns, domains, networks
from routes.networks.jobs import jobs_of

NETWORKS = Domain(name="networks", mounts=(Mount("networks", (networks, domains, dns)),), jobs=jobs_of)
