"""Users, as the service knows them."""

from typing import TYPE_CHECKING

from persistence.permissions import CHANNEL
from routes.domain import Domain
from routes.edge.declare.endpoint import Mount
from routes.housekeeping import Job, Standing
from routes.users import admin, erasure, profile, progress, public, shares, verify
from routes.users.jobs import jobs_of

if TYPE_CHECKING:
    from routes.service import Service


def _follow(service: "Service") -> tuple[Job | Standing, ...]:
    service.users.on_access_change(service.rights.moved)
    service.database.listen(CHANNEL, service.users.heard)
    return (Standing("rights of open streams", service.rights.keep),)


def _show_gauges(service: "Service") -> None:
    gauge = service.metrics.gauge
    gauge("users_in_memory", "Users in memory, some 2 KB each.", lambda: len(service.users))
    gauge("tokens_remembered", "Tokens that need not be verified again.", lambda: len(service.authenticator))


USERS = Domain(
    name="users",
    mounts=(
        Mount("auth", (verify,)),
        Mount("admin", (admin, erasure)),
        Mount("profile", (profile, shares, progress)),
        Mount("public", (public,)),
    ),
    jobs=jobs_of,
    follow=_follow,
    gauges=_show_gauges,
)
