"""The Domain record of gateways."""

from actors.connect.events import ServerChanged, ServerNews
from routes.connect.parts import GAME_SERVERS
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.gateways import admin, machines, servers
from routes.gateways.jobs import jobs_of
from routes.gateways.parts import CARRYING, GATEWAY_REGISTRY
from routes.gateways.reactions import REACTIONS, RECONCILIATIONS, follow_ends_of_nodes
from routes.jobs import BackgroundTask
from routes.service import Service


def _follow(service: Service) -> tuple[BackgroundTask, ...]:
    async def let_go() -> None:
        await service.lifecycle.wait_draining()
        service.of(CARRYING).close()

    def hear(_server_id: str, event: ServerNews) -> None:
        if isinstance(event, ServerChanged) and event.left is not None:
            service.of(CARRYING).changed()

    service.of(GAME_SERVERS).news.append(hear)
    follow_ends_of_nodes(service)
    return (BackgroundTask("waiting heartbeats", let_go),)


def _show_gauges(service: Service) -> None:
    text = "heartbeats of gateways that wait for another revision of the routes"
    service.metrics.gauge("waiting_heartbeats", text, lambda: service.of(CARRYING).waiting)


GATEWAYS = Domain(
    name="gateways",
    mounts=(Mount("connect-gateways", (machines, servers, admin)),),
    parts=(GATEWAY_REGISTRY, CARRYING),
    jobs=jobs_of,
    follow=_follow,
    gauges=_show_gauges,
    reactions=REACTIONS,
    reconciliations=RECONCILIATIONS,
)
