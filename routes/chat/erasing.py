"""Replaces the name of an erased user in conversations."""

from actors.chat.commands import TellErased, Told
from actors.chat.erasing import erase_everywhere
from actors.ids import UserId
from persistence.chat.conversations import of_member
from routes.asking import ask_if_there
from routes.chat.parts import CHAT_KINDS
from routes.service import Service


async def forget_user(service: Service, user_id: UserId) -> None:
    """Replace a user's name in every conversation: live state, messages, archive and journal; safe to repeat.

    Raises:
        PersistenceError: the database failed; call it again.
        Refused: a live conversation refused the command; call it again.
    """
    database, kind = service.database, service.of(CHAT_KINDS).conversation

    async def tell(conversation_id: str, command: Told) -> None:
        # Messages may outlive their conversation; then there is no live state to correct.
        await ask_if_there(service, kind, conversation_id, command)

    # The rest takes a while: those who look are shown `deleted` at once.
    for conversation_id in await database.read(of_member, user_id):
        service.system.tell(kind, conversation_id, TellErased(user_id))
    await erase_everywhere(database, user_id, tell)
