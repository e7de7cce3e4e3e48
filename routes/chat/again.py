"""Answers to requests repeated with their Idempotency-Key (contract §3): the object of the first request, as it is now.

A receipt stores only the object's id, so that a repeat shows nothing of a message, title or file deleted since.
"""

from collections.abc import Mapping

from actors.chat.attachments import find
from actors.chat.public import Attachment, Conversation, Message
from actors.chat.records import public_attachment
from routes.call import Call
from routes.chat import reads
from routes.edge.reply import Encoded, resolved


async def message_again(call: Call, id: str, arguments: Mapping[str, object]) -> Encoded[Message]:
    """The Message that the first request sent or changed.

    Args:
        id: the message's id, from the receipt.
        arguments: the path arguments of the request, by name.

    Raises:
        ConversationNotFound: the caller is no longer in its conversation.
        NotFound: the message no longer exists.
    """
    return Encoded(await reads.message(call, str(arguments["conversation_id"]), id))


async def conversation_again(call: Call, id: str, arguments: Mapping[str, object]) -> Encoded[Conversation]:  # noqa: ARG001
    """The Conversation that the first request created, found or changed.

    Args:
        id: the conversation's id, from the receipt.
        arguments: not used.

    Raises:
        ConversationNotFound: the caller is no longer in it.
    """
    return Encoded(await resolved(reads.conversation(call, id)))


async def attachment_again(call: Call, id: str, arguments: Mapping[str, object]) -> Attachment:
    """The Attachment that the first request uploaded.

    Args:
        id: the attachment's id, from the receipt.
        arguments: the path arguments of the request, by name.

    Raises:
        ConversationNotFound: the caller is no longer in its conversation.
        NotFound: the attachment no longer exists.
    """
    conversation_id = str(arguments["conversation_id"])
    return public_attachment(await call.service.database.read(find, conversation_id, call.user_id, id))
