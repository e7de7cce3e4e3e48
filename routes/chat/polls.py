"""Polls: voting and closing (contract §4). A poll is created by posting a message."""

from actors.chat.commands import ClosePoll, VotePoll
from actors.chat.public import Message
from actors.errors import Blocked, ConversationNotFound, Forbidden, Invalid, NotFound, PollClosed
from actors.ids import ObjectId
from actors.polls import OptionIds
from routes.call import Call
from routes.chat.again import message_again
from routes.chat.channels import WRITE
from routes.chat.guards import NOT_FOUND, participant
from routes.chat.messages import as_message
from routes.chat.parts import CHAT_KINDS
from routes.edge.declare.endpoint import endpoint
from routes.edge.reply import Ask, Encoded
from routes.edge.wire import Wire

_PATH = "/v1/social/chat/conversations/{conversationId}/messages/{messageId}/poll"


class Vote(Wire, frozen=True):
    """The caller's vote.

    Args:
        option_ids: ids of all chosen options; empty withdraws the vote.
    """

    option_ids: OptionIds


@endpoint(
    "POST",
    _PATH + "/vote",
    needs=WRITE,
    refusals=(ConversationNotFound, Blocked, NotFound, Invalid, PollClosed),
    guard=participant,
    not_found=NOT_FOUND,
    again=message_again,
)
def vote_poll(
    call: Call, conversation_id: ObjectId, message_id: ObjectId, body: Vote
) -> Ask[Encoded[Message]]:
    """Replaces the caller's vote; `[]` withdraws it.

    Needs `social:chat.write` and membership. More than one option without `multiple`, or an unknown one, is a 422; a
    poll that is closed or past its expiry is a 409 `POLL_CLOSED`; a message without a poll is a 404. Answers the
    Message with the caller's own `selected`.
    """
    command = VotePoll(call.user_id, message_id, body.option_ids)
    return call.ask(call.service.of(CHAT_KINDS).conversation, conversation_id, command, as_message)


@endpoint(
    "POST",
    _PATH + "/close",
    needs=WRITE,
    refusals=(ConversationNotFound, Blocked, NotFound, Forbidden, PollClosed),
    guard=participant,
    not_found=NOT_FOUND,
    again=message_again,
)
def close_poll(call: Call, conversation_id: ObjectId, message_id: ObjectId) -> Ask[Encoded[Message]]:
    """Closes a poll before its expiry.

    Needs `social:chat.write`, and to be its author or the group's owner (403 otherwise). A poll that is closed already
    is a 409 `POLL_CLOSED`. Answers the Message.
    """
    command = ClosePoll(call.user_id, message_id)
    return call.ask(call.service.of(CHAT_KINDS).conversation, conversation_id, command, as_message)
