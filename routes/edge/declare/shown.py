"""What a socket with many channels shows in each of them, for the description of the service."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a channel shows.

    Args:
        says: its description.
        snapshot: the struct of a snapshot's `data`.
        events: {event: the type of its `data`} in delta mode; a union where the data is of one struct or another.
        own: the struct of `self` beside the `data` of an event; None where none has it.
    """

    says: str
    snapshot: object
    events: Mapping[str, object]
    own: object | None = None


@dataclass(frozen=True, slots=True)
class ShownChannel:
    """A channel as it is described.

    Args:
        name: as clients write it; `<id>` stands for an id.
        needs: the permission nodes and roles that a viewer must hold.
        shows: what it shows.
    """

    name: str
    needs: tuple[str, ...]
    shows: Shown
