"""Conversations: the caller's list, creating, one conversation, its title and muting, its participants."""

from functools import partial
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from actors.bounds import MAX_NAMED, UuidText, ruled
from actors.chat import bounds, rendering, units
from actors.chat.commands import AddParticipants, ChangeConversation, RemoveParticipant, Title
from actors.chat.frames import Frames
from actors.chat.public import Conversation, ConversationList, ParticipantList
from actors.chat.sight import sight_of
from actors.chat.units import ConversationDraft, Created
from actors.errors import (
    Blocked,
    Conflict,
    ConversationNotFound,
    Forbidden,
    Invalid,
    NotFound,
    QuotaExceeded,
)
from actors.ids import ObjectId, UserId, new_epoch
from routes.call import Call
from routes.changes import change
from routes.chat import reads
from routes.chat.again import conversation_again
from routes.chat.channels import READ, WRITE
from routes.chat.guards import NOT_FOUND, acquainted, onlooker, participant
from routes.chat.joining import room_for
from routes.chat.parts import CHAT_KINDS
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import PageQuery
from routes.edge.reply import Ask, Encoded, MaybeAwaitable, Reply, then
from routes.edge.wire import Wire
from routes.friends.parts import FRIENDS_LIVE
from routes.users.parts import PRESENCE, USER_DIRECTORY

_LIST = "/v1/social/chat/conversations"
_ONE = _LIST + "/{conversationId}"


class Change(Wire, frozen=True):
    """Changes to a conversation; a field that is left out stays.

    Args:
        title: title of a group; null removes it.
        muted: for the caller only; null leaves it unchanged.
    """

    title: Title | UnsetType | None = UNSET
    muted: bool | UnsetType | None = UNSET


class NewParticipants(Wire, frozen=True):
    """Users to be added to a group."""

    user_ids: Annotated[tuple[UuidText, ...], msgspec.Meta(max_length=MAX_NAMED), ruled(minItems=1)]


@endpoint("GET", _LIST, needs=READ, guard=acquainted)
def list_conversations(call: Call, query: PageQuery) -> MaybeAwaitable[Encoded[ConversationList]]:
    """The caller's conversations, newest activity first.

    Needs `social:chat.read`.
    """
    return then(reads.conversations(call, query), Encoded)


@endpoint(
    "POST",
    _LIST,
    needs=WRITE,
    status=201,
    found_status=200,
    refusals=(Invalid, QuotaExceeded, Blocked, Forbidden, ConversationNotFound),
    guard=acquainted,
    again=conversation_again,
)
async def create_conversation(call: Call, body: ConversationDraft) -> Reply[Encoded[Conversation]]:
    """Creates a conversation (201), or answers the existing one with the same participants (200).

    Needs `social:chat.write`. The caller is added by the server. A direct conversation has exactly one peer, a group 2
    to 1,024 participants; unknown users are a 422. A group with a user who blocks the caller, or whom the caller
    blocks, is a 403 `BLOCKED`; one with a user whose `privacy.groupInvites` excludes the caller is a 403 `FORBIDDEN`;
    then no group is created. A user may own as many groups as `social:groups.max` grants, by default 100, be in 1,000,
    and bring 2,048 others into conversations a day (422 `QUOTA_EXCEEDED`).
    """
    service = call.service
    creation = units.plan(
        body,
        call.user_id,
        id=call.new_id(),
        epoch=new_epoch(service.random_bytes),
        now_ms=call.now_ms,
        groups_max=bounds.capacity(await service.of(USER_DIRECTORY).access_of(call.user_id)),
    )
    # `shape` runs on the bridge's thread, so it is given copies of what this thread may change.
    member_ids = creation.member_ids
    online = frozenset(service.of(PRESENCE).online_among(member_ids))
    sight = sight_of(service.of(FRIENDS_LIVE), call.user_id, member_ids, member_ids)
    frames = Frames(lambda ids: [id for id in ids if id in online], partial(int, call.now_ms)).seen_with(
        sight
    )

    def shape(created: Created) -> Reply[Encoded[Conversation]]:
        body = rendering.conversation(frames, created.conversation)
        return Reply(Encoded(body), status=201 if created.fresh else 200)

    return await change(call, units.create, creation, about=f"conversation {creation.row.id}", shape=shape)


@endpoint("GET", _ONE, needs=READ, refusals=(ConversationNotFound,), guard=onlooker, not_found=NOT_FOUND)
def read_conversation(call: Call, conversation_id: ObjectId) -> MaybeAwaitable[Encoded[Conversation]]:
    """One conversation with the caller's own counts.

    Needs `social:chat.read` and membership.
    """
    return then(reads.conversation(call, conversation_id), Encoded)


@endpoint(
    "PATCH",
    _ONE,
    needs=WRITE,
    refusals=(ConversationNotFound, Forbidden, Invalid, Conflict),
    guard=onlooker,
    not_found=NOT_FOUND,
)
def change_conversation(call: Call, conversation_id: ObjectId, body: Change) -> Ask[Encoded[Conversation]]:
    """Changes a group's title (its owner only), or mutes for the caller.

    Needs `social:chat.write` and membership. Answers the Conversation.
    """
    muted = UNSET if body.muted is None else body.muted
    command = ChangeConversation(call.user_id, title=body.title, muted=muted)
    return call.ask(call.service.of(CHAT_KINDS).conversation, conversation_id, command, _as_conversation)


@endpoint(
    "GET",
    _ONE + "/participants",
    needs=READ,
    refusals=(ConversationNotFound,),
    guard=onlooker,
    not_found=NOT_FOUND,
)
async def list_participants(call: Call, conversation_id: ObjectId, query: PageQuery) -> ParticipantList:
    """All members, the owner first, then by how long they are in it.

    Needs `social:chat.read` and membership.
    """
    return await reads.participants(call, conversation_id, query)


@endpoint(
    "POST",
    _ONE + "/participants",
    needs=WRITE,
    refusals=(ConversationNotFound, Blocked, Forbidden, Invalid, QuotaExceeded, Conflict),
    guard=onlooker,
    not_found=NOT_FOUND,
    again=conversation_again,
)
async def add_participants(
    call: Call, conversation_id: ObjectId, body: NewParticipants
) -> Encoded[Conversation]:
    """Adds users to a group; users who are in it already stay.

    Needs `social:chat.write`, and to be the owner (403 otherwise). A direct conversation is a 409. A user who blocks
    the caller, or whom the caller blocks, is a 403 `BLOCKED`; a user whose `privacy.groupInvites` excludes the caller
    is a 403 `FORBIDDEN`; then no user is added. Answers the Conversation. The quotas of creating a conversation apply
    (422 `QUOTA_EXCEEDED`).
    """
    pointers: dict[str, str] = {}
    for place, user_id in enumerate(body.user_ids):
        pointers.setdefault(user_id.lower(), f"/userIds/{place}")
    command = AddParticipants(call.user_id, tuple(pointers))
    async with room_for(call, conversation_id, pointers):
        return await call.ask(
            call.service.of(CHAT_KINDS).conversation, conversation_id, command, _as_conversation
        )


@endpoint(
    "DELETE",
    _ONE + "/participants/{userId}",
    needs=WRITE,
    refusals=(ConversationNotFound, NotFound, Forbidden, Conflict),
    guard=participant,
    not_found=NOT_FOUND,
)
def remove_participant(call: Call, conversation_id: ObjectId, user_id: UserId) -> Ask[None]:
    """Removes a member from a group; with the caller's own id, the caller leaves it.

    Needs `social:chat.write`; only the owner removes others (403). A direct conversation is a 409. Answers 204; live
    subscriptions of the member end at once.
    """
    command = RemoveParticipant(call.user_id, user_id)
    return call.ask(call.service.of(CHAT_KINDS).conversation, conversation_id, command)


def _as_conversation(reply: msgspec.Raw) -> Encoded[Conversation]:
    return Encoded(bytes(reply))
