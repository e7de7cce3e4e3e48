"""Who is let near a conversation: asked before the body is read, from live state or one indexed read
(contract §1).

To a stranger a conversation does not exist, so that ids leak nothing. What a turn changes is decided again in
it.
"""

from collections.abc import Awaitable

from actors.errors import ConversationNotFound
from actors.ids import ObjectId
from persistence.chat import members
from routes.call import Call
from routes.chat.channels import MODERATE
from routes.chat.parts import CHAT_KINDS
from routes.edge.reply import MaybeAwaitable
from routes.friends.parts import FRIENDS_LIVE

NOT_FOUND = {"conversation_id": ConversationNotFound}
"""What a malformed conversation id is refused with: the same as an unknown one."""


def participant(call: Call, conversation_id: ObjectId) -> MaybeAwaitable[None]:
    """Lets participants pass.

    Raises:
        ConversationNotFound: the caller is none, or there is no such conversation.
    """
    service = call.service
    state = service.system.peek(service.of(CHAT_KINDS).conversation, conversation_id)
    if state is None:
        return _participant_by_rows(call, conversation_id)
    if call.user_id not in state.members:
        raise ConversationNotFound
    return None


async def _participant_by_rows(call: Call, conversation_id: ObjectId) -> None:
    if not await call.service.database.read(members.is_member, conversation_id, call.user_id):
        raise ConversationNotFound


def acquainted(call: Call) -> MaybeAwaitable[None]:
    """Lets everybody pass, once memory knows whose friends they are: they see whether those are online."""
    circles = call.service.of(FRIENDS_LIVE).circles
    return None if circles.knows(call.user_id) else circles.learn(call.user_id)


def onlooker(call: Call, conversation_id: ObjectId) -> MaybeAwaitable[None]:
    """Lets participants pass, once memory knows whose friends they are.

    Raises:
        ConversationNotFound: as `participant`.
    """
    passed = participant(call, conversation_id)
    if passed is None:
        return acquainted(call)
    return _pass_and_learn(call, passed)


async def _pass_and_learn(call: Call, passed: Awaitable[None]) -> None:
    await passed
    await call.service.of(FRIENDS_LIVE).circles.learn(call.user_id)


async def participant_or_moderator(call: Call, conversation_id: ObjectId) -> bool:
    """Lets participants pass, and whoever may moderate chat; the turn says whether there is such a
    conversation.

    Returns:
        Whether the caller may moderate.

    Raises:
        ConversationNotFound: as `participant`.
    """
    if call.user.access.allows(MODERATE):
        return True
    passed = participant(call, conversation_id)
    if passed is not None:
        await passed
    return False
