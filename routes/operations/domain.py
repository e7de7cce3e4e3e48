"""The Domain record of operations."""

from actors.ids import UserId
from actors.users.forgetting import forget_in_receipts
from routes import outdated
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.edge.pipeline.idempotency import mark_of
from routes.jobs import BackgroundTask, Job
from routes.operations import actors, history, nodes, operations
from routes.operations.channels import ACTORS, METRICS
from routes.operations.gauges import show_gauges
from routes.operations.jobs import jobs_of
from routes.operations.parts import CERTIFICATE, CLOCKS, LIVE_ACTORS, LIVE_METRICS
from routes.service import Service
from routes.users import setup


def _follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    service.of(LIVE_ACTORS).follow(service.system, service.clock.now_ms)
    return (BackgroundTask("live sockets", service.sockets.keep), outdated.follow(service))


async def _forget_user(service: Service, user_id: UserId) -> None:
    await forget_in_receipts(service.database, user_id, mark_of(user_id))


OPERATIONS = Domain(
    name="operations",
    mounts=(Mount("operations", (operations, history, actors, nodes, setup)),),
    parts=(CERTIFICATE, CLOCKS, LIVE_METRICS, LIVE_ACTORS, outdated.COMPARING),
    channels=(METRICS, ACTORS),
    jobs=jobs_of,
    follow=_follow,
    gauges=show_gauges,
    reconciliations=outdated.RECONCILIATIONS,
    forget_user=_forget_user,
)
