"""Chat commands on a live socket: `send`, `typing` and `read`, each with the rights, limits and refusals of its REST
route.

Nothing here waits: a command is enqueued in the conversation's mailbox, and its turn writes the reply. Membership is
decided in that turn; an unknown id, a malformed one, and one of a conversation of others are refused alike.
"""

from typing import TYPE_CHECKING

import msgspec

from actors.bounds import ObjectIdText
from actors.chat.commands import MarkRead, MessageDraft, StartTyping, posting
from actors.errors import ConversationNotFound, NotFound
from actors.id_fields import object_id_in
from actors.ids import ObjectId, parse_object_id
from routes.chat.channels import CONVERSATION, WRITE
from routes.chat.parts import CHAT_KINDS
from routes.chat.volume import excess_bytes
from routes.edge.errors import RateLimited
from routes.edge.principal import demand
from routes.live.channel import ChannelName
from routes.live.command import Command, LiveCommand
from routes.rates import CHAT_BYTES, CHAT_SEND
from routes.users.parts import USER_DIRECTORY

if TYPE_CHECKING:
    from routes.live.session import Session

_PREFIX = CONVERSATION.name + ":"


class Send(Command, frozen=True, tag="send"):
    """Post a message; the reply's `data` is the Message, once it is durable (contract §9).

    Args:
        channel: `conversation:<id>`, subscribed or not.
        data: the body of `POST …/messages`.
    """

    channel: ChannelName
    data: MessageDraft


class Typing(Command, frozen=True, tag="typing"):
    """Tell the others that the user is typing, for 5 s; not stored."""

    channel: ChannelName


class Read(Command, frozen=True, tag="read"):
    """Mark everything up to a message as read; the reply's `data` is the ReadMarker."""

    channel: ChannelName
    message_id: ObjectIdText = msgspec.field(name="messageId")


def send(session: "Session", command: Send) -> None:
    """Post a message.

    Args:
        session: the sender's socket.
        command: the decoded command.

    Raises:
        RateLimited: `chat-send` of this user and conversation, or of this user in all, or `chat-bytes`, counted
            together with REST.
        Forbidden: the user lacks `social:chat.write`.
        NotFound: the channel is not a channel of chat.
        ConversationNotFound: the channel has a malformed conversation id.
    """
    service = session.service
    conversation_id = _conversation_in(command.channel)
    now_ms = service.clock.now_ms()
    policy, access, limits = CHAT_SEND, session.access, service.limits
    refusal = limits.hold_up(policy, session.user_id, now_ms, suffix=conversation_id, access=access)
    if refusal is not None:
        raise RateLimited(refusal.retry_after_ms)
    # Membership is decided in the turn. Ids of other conversations also use up buckets, a bounded number per sender.
    decision = limits.take_for(policy, session.user_id, now_ms, suffix=conversation_id, access=access)
    if not decision.allowed:
        raise RateLimited(decision.retry_after_ms)
    demand(WRITE, session.access)
    refusal = limits.charge(CHAT_BYTES, session.user_id, now_ms, excess_bytes(command.data))
    if refusal is not None:
        raise RateLimited(refusal.retry_after_ms)
    message_id = service.ids.new(now_ms)
    session.post(
        command.id,
        service.of(CHAT_KINDS).conversation,
        conversation_id,
        posting(
            session.user_id, message_id, command.data, service.of(USER_DIRECTORY).peek_name(session.user_id)
        ),
    )


def typing(session: "Session", command: Typing) -> None:
    """Tell the others that the user is typing; raises what `send` raises except RateLimited."""
    conversation_id = _conversation_in(command.channel)
    demand(WRITE, session.access)
    session.post(
        command.id, session.service.of(CHAT_KINDS).conversation, conversation_id, StartTyping(session.user_id)
    )


def read(session: "Session", command: Read) -> None:
    """Move the read marker; raises what `send` raises except RateLimited, and Invalid for a malformed message id."""
    conversation_id = _conversation_in(command.channel)
    demand(WRITE, session.access)
    session.post(
        command.id,
        session.service.of(CHAT_KINDS).conversation,
        conversation_id,
        MarkRead(session.user_id, object_id_in(command.message_id, "/messageId")),
    )


def _conversation_in(channel: str) -> ObjectId:
    if not channel.startswith(_PREFIX):
        raise NotFound("no such channel")
    conversation_id = parse_object_id(channel.removeprefix(_PREFIX))
    if conversation_id is None:
        raise ConversationNotFound
    return conversation_id


COMMANDS = (LiveCommand(Typing, typing), LiveCommand(Read, read), LiveCommand(Send, send, body="data"))
"""What chat adds to `/v1/social/live`."""
