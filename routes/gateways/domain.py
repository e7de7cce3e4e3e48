"""The Domain record of gateways."""

from routes.domain import Domain
from routes.edge.declare.endpoint import Mount
from routes.gateways import machines
from routes.gateways.parts import CARRYING, GATEWAY_REGISTRY
from routes.gateways.reactions import REACTIONS, RECONCILIATIONS
from routes.jobs import BackgroundTask
from routes.service import Service


def _follow(service: Service) -> tuple[BackgroundTask, ...]:
    async def let_go() -> None:
        await service.lifecycle.wait_draining()
        service.of(CARRYING).close()

    return (BackgroundTask("heartbeats of gateways", let_go),)


GATEWAYS = Domain(
    name="gateways",
    mounts=(Mount("connect-gateways", (machines,)),),
    parts=(GATEWAY_REGISTRY, CARRYING),
    follow=_follow,
    reactions=REACTIONS,
    reconciliations=RECONCILIATIONS,
)
