"""The state of an inbox in memory, and its events."""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from actors.chat.reading import StoredConversation
from actors.kernel.kind import Event


class Changed(Event, frozen=True):
    """A conversation changed, or is no longer in the inbox."""

    conversation_id: str


class Recounted(Event, frozen=True):
    """The conversations beyond those shown, or their counts, have changed."""


class Entry(StoredConversation, frozen=True):
    """A conversation in the inbox, with the counts of the inbox's user."""


class Counted(msgspec.Struct, frozen=True):
    """A conversation beyond the 200 shown, which only counts in the totals."""

    updated_at_ms: int
    unread: int
    mentions: int


NO_REST: Mapping[str, Counted] = MappingProxyType({})
"""An empty `rest`, shared by all inboxes: each open socket has one, and few have conversations beyond those shown."""


class InboxState(msgspec.Struct, frozen=True):
    """One user's inbox.

    Args:
        entries: the conversations that are shown, at most 200, newest activity first.
        rest: {conversation id: counts} of the conversations beyond them; `NO_REST` where there are none.
    """

    user_id: str
    entries: tuple[Entry, ...]
    rest: Mapping[str, Counted]


class Reread(msgspec.Struct, frozen=True):
    """Entries read from rows; None for conversations that the user is not in, or no longer."""

    entries: dict[str, Entry | None]
