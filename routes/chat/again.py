"""Answers to repeated requests (contract §3): what the first one was about, as it is now.

A receipt keeps the id alone, so that a repeat shows nothing of a message, title or file that is gone since.
"""

from collections.abc import Mapping

from actors.chat.attachments import find
from actors.chat.public import Attachment, Conversation, Message
from actors.chat.records import public_attachment
from routes.call import Call
from routes.chat import reads
from routes.edge.reply import Encoded


async def message_again(call: Call, id: str, arguments: Mapping[str, object]) -> Encoded[Message]:
    """The Message that a request has sent or changed.

    Raises:
        ConversationNotFound: the caller is no longer in its conversation.
        NotFound: it is no more.
    """
    return Encoded(await reads.message(call, str(arguments["conversation_id"]), id))


async def conversation_again(call: Call, id: str, arguments: Mapping[str, object]) -> Encoded[Conversation]:  # noqa: ARG001
    """The Conversation that a request has made, found or changed.

    Raises:
        ConversationNotFound: the caller is no longer in it.
    """
    return Encoded(reads.known_conversation(call, id) or await reads.conversation(call, id))


async def attachment_again(call: Call, id: str, arguments: Mapping[str, object]) -> Attachment:
    """The Attachment that was uploaded.

    Raises:
        ConversationNotFound: the caller is no longer in its conversation.
        NotFound: it is no more.
    """
    conversation_id = str(arguments["conversation_id"])
    return public_attachment(await call.service.database.read(find, conversation_id, call.user_id, id))
