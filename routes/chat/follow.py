"""What chat must hear from elsewhere: that a member is called otherwise, or appears otherwise to somebody, that history
was imported.

Only live conversations are told; the others read it when they wake. A name that is missed because too many
change at once is right again at the conversation's next activation.
"""

import structlog
import trio

from actors.chat.commands import TellArchive, TellRename
from actors.chat.inbox import FACE
from persistence.chat.archive import CHANNEL
from persistence.chat.conversations import of_member
from persistence.errors import PersistenceError
from routes.chat.parts import CHAT_KINDS
from routes.friends.parts import FRIENDS_LIVE
from routes.jobs import BackgroundTask, Job
from routes.service import Service
from routes.users.parts import USER_DIRECTORY

RENAMES_WAITING = 1_000

log = structlog.get_logger()


def follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    """Listen from now on; returns what passes on for as long as the service runs."""
    sender, renames = trio.open_memory_channel[TellRename](RENAMES_WAITING)

    def renamed(user_id: str, name: str) -> None:
        try:
            sender.send_nowait(TellRename(user_id, name))
        except trio.WouldBlock:
            log.warning("too many renames at once", waiting=RENAMES_WAITING)

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
                ids = await service.database.read(of_member, rename.user_id)
            except PersistenceError as fault:
                log.warning("a rename was not passed on", reason=type(fault).__name__)
                continue
            for conversation_id in ids:
                service.system.tell(service.of(CHAT_KINDS).conversation, conversation_id, rename)

    return (BackgroundTask("renamed members", pass_on),)


def _archived(service: Service, conversation_id: str) -> None:
    """An empty id comes after a lost connection: any conversation may have been meant."""
    kind = service.of(CHAT_KINDS).conversation
    ids = [conversation_id]
    if not conversation_id:
        ids = [row.id for row in service.system.statistics() if row.kind == kind.name]
    for id in ids:
        service.system.tell(kind, id, TellArchive())
