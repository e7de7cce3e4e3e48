"""Takes an erased user out of conversations."""

from actors.chat.commands import Told
from actors.chat.erasing import erase_everywhere
from actors.ids import UserId
from routes.asking import ask_if_there
from routes.chat.parts import CHAT_KINDS
from routes.service import Service


async def forget_user(service: Service, user_id: UserId) -> None:
    """Have a user leave every conversation, and replace their name in live state, messages, archive and journal.

    Safe to repeat.

    Raises:
        PersistenceError: the database failed; call it again.
        Refused: a live conversation refused the command; call it again.
    """
    database, kind = service.database, service.of(CHAT_KINDS).conversation

    async def tell(conversation_id: str, command: Told) -> None:
        # Messages may outlive their conversation; then there is no live state to correct.
        await ask_if_there(service, kind, conversation_id, command)

    await erase_everywhere(database, user_id, tell)
