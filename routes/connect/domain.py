"""The Domain record of game servers."""

from functools import partial

from persistence.connect.exported import EXPORTED
from routes.connect import (
    commands,
    extensions,
    invites,
    listing,
    members,
    policy,
    secrets,
    servers,
    sessions,
    settings,
    social_friends,
    social_party,
    streams,
)
from routes.connect.authenticator import SERVER_AUTHENTICATOR
from routes.connect.channels import SERVER, SERVERS
from routes.connect.erasing import forget_user, let_go
from routes.connect.jobs import jobs_of
from routes.connect.own_servers import OWN_SERVERS, follow_servers
from routes.connect.parts import GAME_SERVERS
from routes.connect.reactions import (
    REACTIONS,
    RECONCILIATIONS,
    follow_unknown_outcomes,
    tell_of_calls,
    tell_rename,
)
from routes.connect.waiters import WAITERS, tell_who_listens
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.jobs import BackgroundTask, Job
from routes.networks import gateway_routes
from routes.service import Service
from routes.users.renaming import following_renames


def _follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    service.of(WAITERS).follow(service)
    if service.node is not None:
        tell_who_listens(service.node.membership.peers, service.of(WAITERS))
    follow_servers(service)
    follow_unknown_outcomes(service)
    tell_of_calls(service)
    waiting = partial(service.of(WAITERS).keep, service.lifecycle)
    return (
        BackgroundTask("long polls of game servers", waiting),
        following_renames(service, "renamed members of game servers", partial(tell_rename, service)),
    )


CONNECT = Domain(
    name="connect",
    mounts=(
        Mount(
            "connect",
            (servers, secrets, sessions, commands, settings, extensions, streams, gateway_routes, listing),
        ),
        Mount("server members", (members, invites, policy)),
        Mount("server friends", (social_friends,)),
        Mount("server party", (social_party,)),
    ),
    parts=(GAME_SERVERS, WAITERS, OWN_SERVERS, SERVER_AUTHENTICATOR),
    server_authenticator=SERVER_AUTHENTICATOR,
    channels=(SERVER, SERVERS),
    jobs=jobs_of,
    follow=_follow,
    reactions=REACTIONS,
    reconciliations=RECONCILIATIONS,
    let_go=let_go,
    forget_user=forget_user,
    exported=EXPORTED,
)
