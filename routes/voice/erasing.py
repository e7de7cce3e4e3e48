"""Removes a user who is erased from voice."""

from actors.errors import NotFound
from actors.ids import UserId
from actors.voice.commands import EndSessions
from routes.asking import ask_if_there
from routes.service import Service
from routes.voice.parts import ATTENDANCE, VOICE_KINDS


async def let_go(service: Service, user_id: UserId) -> None:
    """End the user's session; safe to repeat.

    Raises:
        PersistenceError: the database failed; call it again.
        Refused: the channel refused; call it again.
    """
    mine = service.of(ATTENDANCE).of_user(user_id)
    if mine is not None:
        command = EndSessions(((user_id, mine[1]),), "REMOVED")
        await ask_if_there(service, service.of(VOICE_KINDS).channel, mine[0], command, too_late=(NotFound,))
