"""Passes changes of other domains on to chat: new names, changed visibility of users, imported history; and its
own changes of unknown outcome to inboxes.

Only live conversations and copies are told; the others read the change when they are activated. Inboxes that show a
renamed user read the new name at once, as do inboxes of the members of a conversation that an import has made. A new
name that is dropped, because too many users are renamed at once, is picked up at the conversation's next activation.
"""

from functools import partial

import structlog
import trio

from actors.chat.commands import TellArchive, TellRename
from actors.chat.inbox import FACE, SPEAKER
from persistence.chat.archive import CHANNEL, MADE_CHANNEL
from persistence.chat.members import beside, ids_of
from persistence.errors import PersistenceError
from routes.chat.doubts import follow_unknown_outcomes
from routes.chat.parts import CHAT_KINDS
from routes.friends.parts import FRIENDS_LIVE
from routes.insisting import insist
from routes.jobs import BackgroundTask, Job
from routes.outdated import compare
from routes.service import Service
from routes.users.renaming import following_renames

AT_ONCE = 100
"""Conversations of a renamed user, or of an import, that are read at once, with their members."""

MISSED = ""
"""Heard in place of a conversation's id once listening has (again) begun: some may have been missed."""

MADE_WAITING = 10_000
"""Most conversations of imports whose members are still to be read; further ones show up when an inbox is next read."""

log = structlog.get_logger()


def follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    """Subscribe to these changes; returns the background tasks that pass on what needs rows."""
    follow_unknown_outcomes(service)
    service.of(FRIENDS_LIVE).on_visibility_change(
        lambda viewer_id, user_id, to_friends: service.system.changed(
            service.of(CHAT_KINDS).inbox, viewer_id, (FACE if to_friends else SPEAKER) + user_id
        )
    )
    service.database.listen(CHANNEL, lambda conversation_id: _archived(service, conversation_id))
    return (
        following_renames(service, "renamed members", partial(_pass_on, service)),
        _showing_made(service),
    )


async def _pass_on(service: Service, user_id: str, name: str) -> None:
    system, chat = service.system, service.of(CHAT_KINDS)
    after_id = ""
    while found := await service.database.read(beside, user_id, after_id, AT_ONCE):
        for conversation_id, member_ids in found.items():
            system.tell(chat.conversation, conversation_id, TellRename(user_id, name))
            # Inboxes of a live conversation are told again by its turn, but show the change once.
            system.touched(chat.inbox.name, member_ids, conversation_id)
        after_id = next(reversed(found))


def _archived(service: Service, conversation_id: str) -> None:
    """Tell a conversation that its archive grew; an empty id, sent after a lost connection, stands for all of them."""
    kind = service.of(CHAT_KINDS).conversation
    if conversation_id:
        service.system.tell(kind, conversation_id, TellArchive())
    else:
        service.system.tell_all(kind, TellArchive())


def _showing_made(service: Service) -> BackgroundTask:
    """Subscribe to conversations that an import makes; returns the task that tells the inboxes of their members.

    Where some may have been missed, all open inboxes are compared with rows.
    """
    inbox = service.of(CHAT_KINDS).inbox
    sender, made = trio.open_memory_channel[str](MADE_WAITING)

    def heard(conversation_id: str) -> None:
        try:
            sender.send_nowait(conversation_id)
        except trio.WouldBlock:
            log.warning("too many conversations were imported at once", waiting=MADE_WAITING)

    async def run() -> None:
        while True:
            ids = {await made.receive()}
            while len(ids) < AT_ONCE and made.statistics().current_buffer_used:
                ids.add(made.receive_nowait())
            try:
                found = await insist(partial(service.database.read, ids_of, sorted(ids)))
                for conversation_id, member_ids in found.items():
                    service.system.touched(inbox.name, member_ids, conversation_id)
                if MISSED in ids:
                    await insist(partial(compare, service, inbox))
            except PersistenceError as fault:
                log.warning("imported conversations were not shown", reason=type(fault).__name__)

    service.database.listen(MADE_CHANNEL, heard)
    return BackgroundTask("imported conversations", run)
