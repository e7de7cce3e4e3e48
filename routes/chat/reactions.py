"""Reactions of conversations and inboxes to committed changes of rows."""

from actors.chat.units import ConversationMade
from routes.changes import Reaction
from routes.chat.parts import CHAT_KINDS
from routes.service import Service


def _conversation_made(service: Service, event: ConversationMade) -> None:
    for member_id in event.member_ids:
        service.system.changed(service.of(CHAT_KINDS).inbox, member_id, event.conversation_id)


REACTIONS = (Reaction(ConversationMade, _conversation_made),)
