"""Takes an erased user out of conversations."""

from actors.chat.erasing import erase_everywhere
from actors.ids import UserId
from routes.asking import AskedUntilFailed
from routes.chat.parts import CHAT_KINDS
from routes.service import Service


async def forget_user(service: Service, user_id: UserId) -> None:
    """Have a user leave every conversation, and replace their name in live state, messages, archive and journal.

    Safe to repeat. A conversation that fails, such as one that cannot be loaded, keeps no other from being told.

    Raises:
        PersistenceError: the database failed; call it again.
        Fault: a conversation could not be told; call it again.
    """
    # Messages may outlive their conversation; then there is no live state to correct.
    conversations = AskedUntilFailed(service, service.of(CHAT_KINDS).conversation)
    await erase_everywhere(service.database, user_id, conversations.ask)
    conversations.check()
