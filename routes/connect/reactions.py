"""Reactions of game servers to committed changes of rows, and their reconciliation after an unknown outcome."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from actors.connect.commands import EndExpired, TellRename
from actors.connect.state import State
from actors.errors import NotFound
from actors.friends.events import RelationChanged
from actors.networks.units_networks import ServerJoined
from actors.users.events import UserErased
from persistence.connect.members import showing
from persistence.connect.sessions import everywhere, sessions_of
from routes.changes import Reaction, Reconciliation, reconcile_when_parted
from routes.connect.own_servers import OWN_SERVERS
from routes.connect.parting import ConsentBetween, end_consent, part
from routes.connect.parts import GAME_SERVERS
from routes.service import Service


@dataclass(frozen=True, slots=True)
class ServerCalled:
    """A game server has called a node, which stores that within a minute.

    Args:
        at_ms: when it called, epoch milliseconds.
        address: the client's normalised IP address.
    """

    server_id: str
    at_ms: int
    address: str


class PlayersOn(NamedTuple):
    """Reconciliation subject: the players and credentials of one game server."""

    server_id: str


class MissedTurns(msgspec.Struct, frozen=True):
    """Reconciliation subject: the players and credentials of all game servers, since a node that has ended may not have
    told of all turns of its servers."""


def follow_unknown_outcomes(service: Service) -> None:
    """Subscribe: queue a server for reconciliation after one of its turns ended with an unknown outcome, and all when
    another node has ended."""
    reconcile_when_parted(service, MissedTurns())
    service.of(GAME_SERVERS).on_outcome_unknown.append(
        lambda server_id: service.reconciler.add(PlayersOn(server_id))
    )


def tell_of_calls(service: Service) -> None:
    """Subscribe: tell other nodes when a game server has called this one."""
    if service.node is not None:
        retelling = service.node.retelling
        service.of(GAME_SERVERS).credentials.on_called(
            lambda server_id, at_ms, address: retelling.tell(ServerCalled(server_id, at_ms, address))
        )


async def tell_rename(service: Service, user_id: str, name: str) -> None:
    """Tell the game servers in memory that show a user by name; others read it with their rows.

    Raises:
        PersistenceError: the database failed; call it again.
    """
    for server_id in await service.database.read(showing, user_id):
        service.system.tell(service.of(GAME_SERVERS).server, server_id, TellRename(user_id, name))


def _called(service: Service, event: ServerCalled) -> None:
    service.of(GAME_SERVERS).credentials.saw_elsewhere(event.server_id, event.at_ms, event.address)


async def _relation_changed(service: Service, event: RelationChanged) -> None:
    if event.between.blockers:
        await part(service, event.one_id, event.other_id)


async def _ask_consent(
    service: Service, about: ConsentBetween, _events: Sequence[object]
) -> tuple[object, ...]:
    await end_consent(service, about)
    return ()


async def _ask_players(service: Service, about: PlayersOn, _events: Sequence[object]) -> tuple[object, ...]:
    kind, server_id = service.of(GAME_SERVERS).server, about.server_id
    try:
        await service.system.ask(kind, server_id, EndExpired())
    except NotFound:
        known: State | None = None
    else:
        known = service.system.peek(kind, server_id)
        if known is not None:
            service.of(OWN_SERVERS).reread(known)
    service.of(OWN_SERVERS).moved(server_id)
    playing = service.of(GAME_SERVERS).playing
    if known is not None:
        playing.reconcile(server_id, known.sessions.values())
    else:  # there is none, or it lives on another node, which may tell of a turn meanwhile
        with playing.reading() as told:
            sessions = await service.database.read(sessions_of, server_id)
        if server_id in told:
            service.reconciler.add(about)  # they are read again
        else:
            playing.reconcile(server_id, sessions)
    # The cached row may have been read before the change was committed.
    service.of(GAME_SERVERS).credentials.distrust(server_id)
    return ()


async def _look(service: Service, _about: MissedTurns, _events: Sequence[object]) -> tuple[()]:
    servers = service.of(GAME_SERVERS)
    servers.credentials.distrust_all()
    for server_id in sorted(servers.playing.other_than(await service.database.read(everywhere))):
        service.reconciler.add(PlayersOn(server_id))
    return ()


async def _erased(service: Service, event: UserErased) -> None:
    """Forget the user as a player on servers that could not be asked to let them go, and so told nobody."""
    servers = service.of(GAME_SERVERS)
    servers.credentials.distrust_owned(event.user_id)
    for session in servers.playing.sessions_of(event.user_id):
        # Of the others on that server its turns tell, which may be newer than these rows.
        stored = await service.database.read(sessions_of, session.server_id)
        if session.id not in {one.id for one in stored}:
            servers.playing.lose(session)


def _joined(service: Service, event: ServerJoined) -> None:
    service.of(OWN_SERVERS).joined(event.owner_id, event.server_id)


REACTIONS = (
    Reaction(RelationChanged, _relation_changed, once=True),
    Reaction(ServerJoined, _joined),
    Reaction(ServerCalled, _called),
    Reaction(UserErased, _erased),
)

RECONCILIATIONS = (
    Reconciliation(ConsentBetween, _ask_consent),
    Reconciliation(PlayersOn, _ask_players),
    Reconciliation(MissedTurns, _look),
)
