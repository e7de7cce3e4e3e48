"""The Domain record of users."""

from persistence.users.exported import EXPORTED
from persistence.users.permissions import CHANNEL
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.jobs import BackgroundTask, Job
from routes.service import Service
from routes.users import (
    admin,
    audit,
    erasure,
    listing,
    profile,
    progress,
    public,
    rights,
    roles,
    shares,
    verify,
)
from routes.users.authenticator import ISSUERS, USER_AUTHENTICATOR
from routes.users.jobs import jobs_of
from routes.users.missed_names import MissedNames
from routes.users.online import follow_sockets, roam
from routes.users.parts import PRESENCE, RIGHTS, USER_DIRECTORY
from routes.users.reactions import REACTIONS, RECONCILIATIONS


def _follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    follow_sockets(service.sockets, service.of(PRESENCE), service.of(USER_DIRECTORY))
    if service.node is not None:
        membership = service.node.membership
        roam(membership.life.node, membership.peers, service.sockets, service.of(PRESENCE), service.clock)
    service.of(USER_DIRECTORY).on_access_change(service.of(RIGHTS).moved)
    service.of(RIGHTS).on_tokens(service.sockets.close_older)
    missed_names = MissedNames(service.of(USER_DIRECTORY), service.database, service.clock)
    service.database.listen(CHANNEL, service.of(USER_DIRECTORY).heard)
    service.database.listen(CHANNEL, missed_names.heard)
    return (
        missed_names.task(),
        BackgroundTask("keys of issuers", service.of(ISSUERS).keep_fresh),
        BackgroundTask("rights of open streams", service.of(RIGHTS).keep),
    )


def _show_gauges(service: Service) -> None:
    gauge = service.metrics.gauge
    gauge("users_in_memory", "Users in memory, some 2 KB each.", lambda: len(service.of(USER_DIRECTORY)))
    gauge(
        "tokens_remembered",
        "Tokens that need not be verified again.",
        lambda: len(service.of(USER_AUTHENTICATOR)),
    )


USERS = Domain(
    name="users",
    mounts=(
        Mount("auth", (verify,)),
        Mount("admin", (listing, admin, roles, rights, audit, erasure)),
        Mount("profile", (profile, shares, progress)),
        Mount("public", (public,)),
    ),
    parts=(USER_DIRECTORY, PRESENCE, RIGHTS, ISSUERS, USER_AUTHENTICATOR),
    authenticator=USER_AUTHENTICATOR,
    jobs=jobs_of,
    follow=_follow,
    reactions=REACTIONS,
    reconciliations=RECONCILIATIONS,
    gauges=_show_gauges,
    exported=EXPORTED,
)
