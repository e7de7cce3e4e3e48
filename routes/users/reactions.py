"""Reactions of users in memory, and of their sockets, to committed changes of users, and their reconciliation."""

from collections.abc import Sequence
from typing import NamedTuple

from actors.users.events import (
    NodeAdded,
    NodesRemoved,
    NodeWithdrawn,
    TokensRevoked,
    UserChanged,
    UserErased,
)
from persistence.users.erasure import last_erased_at_ms
from persistence.users.permissions import ANY
from persistence.users.users import read_user
from routes.changes import Reaction, Reconciliation
from routes.edge.websocket.close_codes import CloseCode
from routes.service import Service
from routes.users.parts import USER_DIRECTORY


class CatalogNodeOf(NamedTuple):
    """Reconciliation subject: whether the catalog has a node. Memory reads the whole catalog again."""

    node: str


class RightsOf(NamedTuple):
    """Reconciliation subject: a user's row, settings and rights, which memory must read again."""

    user_id: str


class TokensOf(NamedTuple):
    """Reconciliation subject: the time from which a user's tokens are accepted."""

    user_id: str


class ErasureOf(NamedTuple):
    """Reconciliation subject: a user who may have been erased.

    Args:
        at_ms: the time of the erasure, epoch milliseconds. Rows say by it what has happened, also where the user has
            come back since: who has everything anew has nothing of what memory still holds.
    """

    user_id: str
    at_ms: int


def _changed(service: Service, event: UserChanged) -> None:
    service.of(USER_DIRECTORY).changed(event.user_id)


def _node_added(service: Service, event: NodeAdded) -> None:
    service.of(USER_DIRECTORY).catalog_grew(event.node)


def _nodes_removed(service: Service, event: NodesRemoved) -> None:
    service.of(USER_DIRECTORY).catalog_shrank(event.nodes)


def _node_withdrawn(service: Service, _event: NodeWithdrawn) -> None:
    # Read again rather than taken out in memory: it grants, and another node of the service may have told of a grant
    # since, which has put it back.
    service.of(USER_DIRECTORY).heard(ANY)


def _tokens_revoked(service: Service, event: TokensRevoked) -> None:
    service.of(USER_DIRECTORY).revoked(event.user_id, event.not_before_s)
    service.sockets.close_older(event.user_id, event.not_before_s)


def _erased(service: Service, event: UserErased) -> None:
    service.of(USER_DIRECTORY).changed(event.user_id)
    service.sockets.close_user(event.user_id, CloseCode.UNAUTHENTICATED, "UNAUTHENTICATED")


async def _ask_tokens(
    service: Service, about: TokensOf, _events: Sequence[object]
) -> tuple[TokensRevoked, ...]:
    user = await service.database.read(read_user, about.user_id)
    return () if user is None else (TokensRevoked(user.id, user.tokens_not_before_s),)


async def _ask_erasure(service: Service, about: ErasureOf, events: Sequence[object]) -> Sequence[object]:
    erased_at_ms = await service.database.read(last_erased_at_ms, about.user_id)
    return () if erased_at_ms is None or erased_at_ms < about.at_ms else events


REACTIONS = (
    Reaction(UserChanged, _changed),
    Reaction(NodeAdded, _node_added),
    Reaction(NodesRemoved, _nodes_removed),
    Reaction(NodeWithdrawn, _node_withdrawn),
    Reaction(TokensRevoked, _tokens_revoked),
    Reaction(UserErased, _erased),
)

RECONCILIATIONS = (Reconciliation(TokensOf, _ask_tokens), Reconciliation(ErasureOf, _ask_erasure))
