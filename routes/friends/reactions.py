"""Reactions of the live view of friends to committed changes between users, and their reconciliation."""

from collections.abc import Sequence
from typing import NamedTuple

from actors.friends.between import seen_between
from actors.friends.events import Between, LinkChanged, RelationChanged, RequestEnded
from actors.ids import UserId
from actors.notifications.view import NotificationsChanged
from actors.users.events import UserErased
from persistence.connection import Connection
from routes.changes import Reaction, Reconciliation, change_by_itself
from routes.friends.parts import FRIENDS_LIVE, STREAKS
from routes.service import Service


class Pairing(NamedTuple):
    """Reconciliation subject: the relation between two users; their ids in ascending order."""

    one_id: UserId
    other_id: UserId


def pairing(one_id: UserId, other_id: UserId) -> Pairing:
    """The reconciliation subject of two users; the order of the arguments does not matter."""
    return Pairing(min(one_id, other_id), max(one_id, other_id))


def _relation_changed(service: Service, event: RelationChanged) -> None:
    service.of(FRIENDS_LIVE).relation_changed(event.one_id, event.other_id, event.between, event.turn)
    service.of(STREAKS).forget(event.one_id, event.other_id)


def _link_changed(service: Service, event: LinkChanged) -> None:
    friends = service.of(FRIENDS_LIVE)
    friends.visibility_changed(event.holder_id, event.friend_id, event.visibility, event.turn)
    friends.changed(event.holder_id, event.friend_id)


def _request_ended(service: Service, event: RequestEnded) -> None:
    service.of(FRIENDS_LIVE).changed(event.one_id, event.other_id)


def _user_erased(service: Service, event: UserErased) -> None:
    friends = service.of(FRIENDS_LIVE)
    for other_id, blocks in event.others.items():
        nothing = Between(False, {}, frozenset({other_id} if blocks else ()))
        friends.relation_changed(event.user_id, other_id, nothing, event.turn)


async def _ask(service: Service, about: Pairing, _events: Sequence[object]) -> tuple[object, ...]:
    async def look(conn: Connection) -> RelationChanged:  # in a transaction, because it locks both users
        return await seen_between(conn, *about)

    seen = await change_by_itself(service, look, about=None)
    return (seen, *map(NotificationsChanged, about))


REACTIONS = (
    Reaction(RelationChanged, _relation_changed),
    Reaction(LinkChanged, _link_changed),
    Reaction(RequestEnded, _request_ended),
    Reaction(UserErased, _user_erased),
)

RECONCILIATIONS = (Reconciliation(Pairing, _ask),)
