"""What viewers of friends are told of a change, one by one, in place of a whole snapshot."""

from typing import ClassVar

from actors.kernel.kind import Event


class Appeared(Event, frozen=True):
    """The appearance of a friend has changed.

    The event has no offset, but snapshots show the change: a client that comes back after it gets a snapshot
    (`Channel._is_lost`).
    """

    journaled: ClassVar[bool] = False
    friend_id: str


class EntryChanged(Event, frozen=True):
    """A Friend or Request entry was added, changed or removed.

    Args:
        name: the event's name on the wire.
        data: the event's content, encoded.
    """

    name: str
    data: bytes
