"""Passes changes of other domains on to chat: new names, changed visibility of users, imported history; and its
own changes of unknown outcome to inboxes.

Only live conversations and copies are told; the others read the change when they are activated. A new name that is
dropped, because too many users are renamed at once, is picked up at the conversation's next activation.
"""

import structlog
import trio

from actors.chat.commands import TellArchive, TellRename
from actors.chat.inbox import FACE
from persistence.chat.archive import CHANNEL
from persistence.chat.conversations import of_member
from persistence.errors import PersistenceError
from routes.chat.doubts import follow_unknown_outcomes
from routes.chat.parts import CHAT_KINDS
from routes.friends.parts import FRIENDS_LIVE
from routes.jobs import BackgroundTask, Job
from routes.service import Service
from routes.users.parts import USER_DIRECTORY

RENAMES_WAITING = 1_000

AT_ONCE = 1_000
"""Conversations of a renamed user that are read at once."""

log = structlog.get_logger()


def follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    """Subscribe to these changes; returns the background task that passes renames on."""
    sender, renames = trio.open_memory_channel[TellRename](RENAMES_WAITING)

    def renamed(user_id: str, name: str) -> None:
        try:
            sender.send_nowait(TellRename(user_id, name))
        except trio.WouldBlock:
            log.warning("too many renames at once", waiting=RENAMES_WAITING)

    follow_unknown_outcomes(service)
    service.of(USER_DIRECTORY).on_rename(renamed)
    service.of(FRIENDS_LIVE).on_visibility_change(
        lambda viewer_id, user_id: service.system.changed(
            service.of(CHAT_KINDS).inbox, viewer_id, FACE + user_id
        )
    )
    service.database.listen(CHANNEL, lambda conversation_id: _archived(service, conversation_id))

    async def pass_on() -> None:
        while True:
            rename = await renames.receive()
            try:
                await _pass_on(service, rename)
            except PersistenceError as fault:
                log.warning("a rename was not passed on", reason=type(fault).__name__)

    return (BackgroundTask("renamed members", pass_on),)


async def _pass_on(service: Service, rename: TellRename) -> None:
    after_id = ""
    while ids := await service.database.read(of_member, rename.user_id, after_id, AT_ONCE):
        for conversation_id in ids:
            service.system.tell(service.of(CHAT_KINDS).conversation, conversation_id, rename)
        after_id = ids[-1]


def _archived(service: Service, conversation_id: str) -> None:
    """Tell a conversation that its archive grew; an empty id, sent after a lost connection, stands for all of them."""
    kind = service.of(CHAT_KINDS).conversation
    if conversation_id:
        service.system.tell(kind, conversation_id, TellArchive())
    else:
        service.system.tell_all(kind, TellArchive())
