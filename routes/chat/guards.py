"""Guards of conversations: membership, checked before the body is read, in live state or by one indexed read (contract
§1).

For a user who is not a member a conversation does not exist, so that ids leak nothing. Writes are checked again in the
conversation's turn.
"""

from collections.abc import Awaitable
from functools import partial

from actors.chat.rules_messages import require_sender
from actors.chat.state import find_line
from actors.errors import ConversationNotFound, NotFound
from actors.ids import ObjectId
from persistence.chat import members, messages
from routes.call import Call
from routes.chat.channels import MODERATE
from routes.chat.parts import CHAT_KINDS
from routes.edge.reply import MaybeAwaitable, then
from routes.friends.parts import FRIENDS_LIVE

NOT_FOUND = {"conversation_id": ConversationNotFound}
"""A malformed conversation id is refused like an unknown one."""


def participant(call: Call, conversation_id: ObjectId) -> MaybeAwaitable[None]:
    """Guard: requires that the caller is a participant.

    Raises:
        ConversationNotFound: the caller is not a participant, or there is no such conversation.
    """
    service = call.service
    state = call.peek(service.of(CHAT_KINDS).conversation, conversation_id)
    if state is None:
        return then(service.database.read(members.is_member, conversation_id, call.user_id), _require)
    _require(call.user_id in state.members)
    return None


def _require(is_member: bool) -> None:
    if not is_member:
        raise ConversationNotFound


def sender(call: Call, conversation_id: ObjectId, message_id: ObjectId) -> MaybeAwaitable[None]:
    """Guard: requires that the caller is a participant, and has sent the message.

    For an archived message the sender is not checked: the turn refuses every change of it.

    Raises:
        ConversationNotFound: the caller is not a participant, or there is no such conversation.
        NotFound: the conversation has no such message.
        Forbidden: another user has sent the message.
    """
    service = call.service
    state = call.peek(service.of(CHAT_KINDS).conversation, conversation_id)
    if state is not None:
        _require(call.user_id in state.members)
        line = find_line(state, message_id)
        if line is not None:
            require_sender(line.sender_id, call.user_id)
            return None
    standing = service.database.read(messages.standing, conversation_id, message_id, call.user_id)
    return then(standing, partial(_require_own, call.user_id))


def _require_own(user_id: str, standing: messages.Standing) -> None:
    _require(standing.is_member)
    if standing.sender_id is not None:
        require_sender(standing.sender_id, user_id)
    elif not standing.is_archived:
        raise NotFound("message not found")


def acquainted(call: Call) -> MaybeAwaitable[None]:
    """Guard: loads the caller's friends into memory, which decide whom they see online; refuses no caller."""
    circles = call.service.of(FRIENDS_LIVE).circles
    return None if circles.knows(call.user_id) else circles.learn(call.user_id)


def onlooker(call: Call, conversation_id: ObjectId) -> MaybeAwaitable[None]:
    """Guard: requires that the caller is a participant, and loads their friends into memory (see `acquainted`).

    Raises:
        ConversationNotFound: the caller is not a participant, or there is no such conversation.
    """
    passed = participant(call, conversation_id)
    if passed is None:
        return acquainted(call)
    return _pass_and_learn(call, passed)


async def _pass_and_learn(call: Call, passed: Awaitable[None]) -> None:
    await passed
    await call.service.of(FRIENDS_LIVE).circles.learn(call.user_id)


async def participant_or_moderator(call: Call, conversation_id: ObjectId) -> bool:
    """Guard: requires that the caller is a participant or may moderate chat.

    Whether the conversation exists is not checked for moderators; the turn does that.

    Returns:
        Whether the caller may moderate.

    Raises:
        ConversationNotFound: the caller may not moderate, and is not a participant or there is no such conversation.
    """
    if call.user.access.allows(MODERATE):
        return True
    passed = participant(call, conversation_id)
    if passed is not None:
        await passed
    return False
