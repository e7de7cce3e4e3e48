"""What viewers of friends are told of a change, one by one, in place of a whole snapshot."""

from typing import ClassVar

from actors.kernel.kind import Event


class Appeared(Event, frozen=True):
    """A friend appears otherwise now.

    It has no offset, and is in the snapshot: who comes back after it gets one (`Channel._is_lost`).
    """

    journaled: ClassVar[bool] = False
    friend_id: str


class EntryChanged(Event, frozen=True):
    """A Friend or Request entry was added, changed or removed.

    Args:
        name: of the event, as clients know it.
        data: what they are told of it, encoded.
    """

    name: str
    data: bytes
