"""Reactions of conversations and inboxes to committed changes of rows."""

from actors.chat.commands import TellBlock
from actors.chat.units import ConversationMade
from actors.friends.events import RelationChanged
from routes.changes import Reaction
from routes.chat.parts import CHAT_KINDS
from routes.service import Service


def _conversation_made(service: Service, event: ConversationMade) -> None:
    for member_id in event.member_ids:
        service.system.changed(service.of(CHAT_KINDS).inbox, member_id, event.conversation_id)


def _relation_changed(service: Service, event: RelationChanged) -> None:
    found = event.between
    for blocker_id, target_id in ((event.one_id, event.other_id), (event.other_id, event.one_id)):
        for id in found.conversation_ids:
            told = TellBlock(blocker_id, target_id, blocker_id in found.blockers)
            service.system.tell(service.of(CHAT_KINDS).conversation, id, told)


REACTIONS = (
    Reaction(ConversationMade, _conversation_made),
    Reaction(RelationChanged, _relation_changed, once=True),
)
