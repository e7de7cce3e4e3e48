"""What one user does to another, for the routes of users and for those of game servers that act for a user.

`actor_id` is the user who acts; the routes have checked that the caller may act for them.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar, TypeVarTuple

from msgspec.structs import asdict, replace

from actors.change import Change
from actors.errors import Invalid, NotFound
from actors.field_errors import FieldError
from actors.friends import overview, units_relations
from actors.friends.between import moved
from actors.friends.frames import request_entry
from actors.friends.public import BlockEntry, FriendEntry, FriendsOverview, RequestSent
from actors.friends.units_links import Choice, choose
from actors.friends.units_relations import NowBlocked, Pair, Sent, capacity
from actors.id_fields import uuid_in
from actors.ids import UserId, Uuid
from actors.texts import lines, lines_or_none
from actors.time import iso
from persistence.connection import Connection, Unit
from persistence.friends.links import Link
from persistence.users.names import ids_named
from routes.call import Call
from routes.changes import change
from routes.edge.reply import Reply
from routes.friends.parts import FRIENDS_LIVE
from routes.friends.reactions import pairing
from routes.users.parts import USER_DIRECTORY

R = TypeVar("R")
T = TypeVar("T")
Args = TypeVarTuple("Args")

NOTE_MAX = 300
"""Most characters of a note (contract §5)."""

REASON_MAX = 500
"""Most characters of a block's reason."""

NAME_MAX = 64
"""Most characters of a name that is looked up."""


async def resolve_target(call: Call, target_id: str | None, target_name: str | None) -> UserId:
    """Find the user that a body names, by id, else by name.

    Args:
        target_id: a uuid, or None to use the name; not looked up here.
        target_name: a name that only one user has, or None.

    Raises:
        Invalid: neither is given, or the id is not a uuid.
        NotFound: the name has no user or several.
    """
    if target_id is not None:
        return UserId(uuid_in(target_id, "/targetId"))
    if target_name is None:
        raise Invalid(FieldError("", "REQUIRED", "name targetId or targetName"))
    found = await call.service.database.read(ids_named, target_name)
    if len(found) != 1:
        raise NotFound("no such user")
    return UserId(Uuid(found[0]))


async def send(call: Call, actor_id: UserId, other_id: UserId, note: str | None) -> Reply[RequestSent]:
    """Send a friend request (201), or accept the request that the other user has sent already (200).

    Args:
        note: shown to the other user, at most `NOTE_MAX` characters; None for none.

    Raises:
        Invalid: the note has control characters.

        And what `units_relations.send` raises.
    """
    note = lines_or_none(note, "/note", NOTE_MAX)
    pair = await _pair(call, actor_id, other_id)
    entry_of = await _entries(call, actor_id, other_id)

    def shape(sent: Sent) -> Reply[RequestSent]:
        friend = None if sent.link is None else entry_of(sent.link)
        asked = request_entry(sent.request, actor_id)
        reply = RequestSent(**asdict(asked), friend=friend)
        return Reply(reply, status=201 if friend is None else 200)

    return await _move(call, (actor_id, other_id), units_relations.send, pair, note, shape=shape)


async def accept(
    call: Call, actor_id: UserId, other_id: UserId, request_id: str | None = None
) -> FriendEntry:
    """Accept the other user's request.

    Args:
        request_id: the request to accept, or None for the pending one.

    Raises: what `units_relations.accept` raises.
    """
    pair = await _pair(call, actor_id, other_id)
    entry_of = await _entries(call, actor_id, other_id)
    return await _move(call, (actor_id, other_id), units_relations.accept, pair, request_id, shape=entry_of)


async def accept_silently(call: Call, actor_id: UserId, other_id: UserId) -> None:
    """Accept the other user's request without making an answer.

    Raises: what `units_relations.accept` raises.
    """
    pair = await _pair(call, actor_id, other_id)
    await _move(call, (actor_id, other_id), units_relations.accept, pair, None, shape=_nothing)


async def decline(call: Call, actor_id: UserId, other_id: UserId, request_id: str | None = None) -> None:
    """Decline the other user's request; `request_id` None means the pending one.

    Raises:
        NotFound: there is no such pending request.
    """
    pair = await _pair(call, actor_id, other_id)
    await change(call, units_relations.decline, pair, request_id, about=pairing(actor_id, other_id))


async def cancel(call: Call, actor_id: UserId, other_id: UserId, request_id: str | None = None) -> None:
    """Withdraw the actor's request, or remove one that they received; `request_id` None means the pending one.

    Raises:
        NotFound: there is no such pending request.
    """
    pair = await _pair(call, actor_id, other_id)
    await change(call, units_relations.cancel, pair, request_id, about=pairing(actor_id, other_id))


async def remove(call: Call, actor_id: UserId, other_id: UserId) -> None:
    """End a friendship.

    Raises:
        NotFound: the two are not friends.
    """
    pair = await _pair(call, actor_id, other_id)
    await _move(call, (actor_id, other_id), units_relations.remove, pair, shape=_nothing)


async def choose_for(call: Call, actor_id: UserId, friend_id: UserId, choice: Choice) -> FriendEntry:
    """Change the actor's settings for a friend: favourite, visibility, note.

    Raises:
        Invalid: the note has control characters.
        NotFound: the two are not friends.
    """
    if isinstance(choice.note, str):
        choice = replace(choice, note=lines(choice.note, "/note", NOTE_MAX))
    entry_of = await _entries(call, actor_id, friend_id)
    unit = partial(choose, now_ms=call.now_ms)
    about = pairing(actor_id, friend_id)
    return await change(call, unit, actor_id, friend_id, choice, about=about, shape=entry_of)


async def block(call: Call, actor_id: UserId, other_id: UserId, reason: str | None) -> Reply[BlockEntry]:
    """Block a user (201), or change the reason of a block (200).

    Args:
        reason: only for the actor, at most `REASON_MAX` characters; None for none.

    Raises:
        Invalid: the reason has control characters.

        And what `units_relations.block` raises.
    """
    reason = lines_or_none(reason, "/reason", REASON_MAX)

    def shape(blocked: NowBlocked) -> Reply[BlockEntry]:
        row = blocked.block
        entry = BlockEntry(row.target_id, row.reason, iso(row.created_at_ms), iso(row.updated_at_ms))
        return Reply(entry, status=201 if blocked.fresh else 200)

    pair = await _pair(call, actor_id, other_id)
    return await _move(call, (actor_id, other_id), units_relations.block, pair, reason, shape=shape)


async def unblock(call: Call, actor_id: UserId, other_id: UserId) -> None:
    """End a block; friendship and requests that it ended do not come back.

    Raises:
        NotFound: the actor does not block this user.
    """
    await _move(call, (actor_id, other_id), units_relations.unblock, actor_id, other_id, shape=_nothing)


async def overview_of(call: Call, actor_id: UserId) -> FriendsOverview:
    """The actor's friends and pending requests.

    Raises:
        NotFound: there is no such user.
    """
    service = call.service
    users = service.of(USER_DIRECTORY)
    user, access = await users.user_of(actor_id), await users.access_of(actor_id)
    owned = await service.database.read(overview.read_own, actor_id, call.now_ms)
    return overview.whole(service.of(FRIENDS_LIVE), user, owned, capacity(access), call.now_ms)


def _nothing(_made: object) -> None:
    return


async def _move(
    call: Call,
    pair: tuple[UserId, UserId],
    unit: Unit[*Args, Change[R]],
    *args: *Args,
    shape: Callable[[R], T],
) -> T:
    """Change rows by a unit that may change the relation between two users."""
    one_id, other_id = pair

    async def move(conn: Connection, *args: *Args) -> Change[R]:
        return await moved(conn, unit, *args, one_id=one_id, other_id=other_id)

    return await change(call, move, *args, about=pairing(one_id, other_id), shape=shape)


async def _pair(call: Call, actor_id: UserId, other_id: UserId) -> Pair:
    users = call.service.of(USER_DIRECTORY)
    return Pair(
        actor_id=actor_id,
        other_id=other_id,
        actor_max=capacity(await users.access_of(actor_id)),
        other_max=capacity(await users.access_of(other_id)),
        id=call.new_id(),
        notice_id=call.new_id(),
        now_ms=call.now_ms,
    )


async def _entries(call: Call, actor_id: UserId, other_id: UserId) -> Callable[[Link], FriendEntry]:
    """Prepare a function that makes the entry of a link to the other user.

    Their appearance is looked up now, because a transaction's result is shaped on another thread.

    Raises:
        NotFound: there is no such user.
    """
    service = call.service
    other = await service.of(USER_DIRECTORY).user_of(other_id)
    seen = service.of(FRIENDS_LIVE).appearance(other_id, actor_id, other.last_seen_at_ms)
    return lambda link: overview.entry(link, seen, call.now_ms)
