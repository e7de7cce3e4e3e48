"""The two channels of chat on `/v1/social/live`, and the actors behind them.

| channel             | snapshot      | events in delta mode                                        |
|---------------------|---------------|-------------------------------------------------------------|
| `inbox`             | InboxSnapshot | conversation_updated                                        |
| `conversation:<id>` | MessagePage   | message_*, poll_updated, conversation_updated, typing, read |
"""

from typing import TYPE_CHECKING

from actors.chat.commands import ChatViewer, InboxViewer
from actors.errors import ConversationNotFound
from actors.ids import UserId, parse_object_id
from routes.live.channel import LiveChannel, SubscribeParams

if TYPE_CHECKING:
    from routes.service import Service

READ = "social:chat.read"
"""The permission node of everything that only looks."""

WRITE = "social:chat.write"
"""The permission node of everything that changes something."""

MODERATE = "social:chat.moderate"
"""The permission node of deleting what others wrote."""

MAX_PAGE = 120
"""Messages in one page or snapshot (service description §8)."""


def _reader(user_id: UserId, params: SubscribeParams) -> ChatViewer:
    return ChatViewer(user_id, min(max(params.limit, 1), MAX_PAGE), params.include_archived)


async def _acquaint(service: "Service", user_id: UserId) -> None:
    await service.friends.circles.learn(user_id)


INBOX = LiveChannel(
    name="inbox",
    needs=READ,
    shown=lambda service: service.chat.inbox,
    viewer=lambda user_id, _: InboxViewer(user_id),
    by_default=True,
    prepare=_acquaint,
)

CONVERSATION = LiveChannel(
    name="conversation",
    needs=READ,
    shown=lambda service: service.chat.conversation,
    viewer=_reader,
    id_of=parse_object_id,
    missing=ConversationNotFound,
    prepare=_acquaint,
)
