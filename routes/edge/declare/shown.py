"""What a socket with many channels sends in each of them, for the description of the API."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a channel sends.

    Args:
        says: the description of the channel.
        snapshot: the struct of a snapshot's `data`.
        events: {event: the type of its `data`} in delta mode; a union where the data is of one struct or another.
        own: the struct of `self` beside the `data` of an event; None where no event has a `self`.
    """

    says: str
    snapshot: object
    events: Mapping[str, object]
    own: object | None = None


@dataclass(frozen=True, slots=True)
class ShownChannel:
    """A channel as the API's description lists it.

    Args:
        name: the channel's name as clients write it; `<id>` stands for an id.
        needs: the permission nodes and roles that a viewer must hold.
        shows: what the channel sends.
    """

    name: str
    needs: tuple[str, ...]
    shows: Shown
