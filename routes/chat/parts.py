"""The parts of chat: its kinds of actors, stored files, and the workers for uploads."""

from typing import Any

from actors.chat.kind import ChatKinds, chat_kinds
from actors.kernel.kind import Kind
from persistence.blobs import Blobs
from routes.friends.parts import FRIENDS_LIVE, STREAKS
from routes.part import Opening, Part
from routes.users.parts import PRESENCE
from routes.workers import Workers

UPLOADS_AT_ONCE = 2
"""Most attachments checked or written at the same time; others wait."""


async def _open_kinds(opening: Opening) -> ChatKinds:
    presence, friends = await opening.of(PRESENCE), await opening.of(FRIENDS_LIVE)
    streaks = await opening.of(STREAKS)
    return chat_kinds(presence.online_among, opening.clock.now_ms, friends, streaks.contact)


async def _open_blobs(opening: Opening) -> Blobs:
    return Blobs(opening.config.shared_dir / "blobs")


async def _open_upload_checks(_opening: Opening) -> Workers:
    return Workers(UPLOADS_AT_ONCE)


def _kinds(chat: ChatKinds) -> tuple[Kind[Any, Any], ...]:
    return (chat.conversation,)


CHAT_KINDS = Part(name="chat", open=_open_kinds, kinds=_kinds)
"""The kind of conversations, and the view of a user's inbox."""

BLOBS = Part(name="attachments", open=_open_blobs)
"""The stored bytes of attachments."""

UPLOAD_CHECKS = Part(name="checks of attachments", open=_open_upload_checks)
"""Checks and writes attachments, a few at the same time."""
