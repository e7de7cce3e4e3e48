"""Whether a client that comes back is sent the events that it has missed, or a snapshot in place of them."""

from typing import Any, Protocol

from actors.kernel.replay_buffer import ReplayBuffer
from actors.kernel.subscription import WatchRequest


class Resumable(Protocol):
    """What is asked of a channel."""

    @property
    def epoch(self) -> str:
        """The name of the history that offsets belong to."""
        ...

    @property
    def offset(self) -> int:
        """The offset of the newest event."""
        ...

    @property
    def reframed_at(self) -> int:
        """The offset at which the snapshot last changed by what has no offset of its own."""
        ...

    @property
    def recent(self) -> ReplayBuffer:
        """The newest events."""
        ...


def knows(channel: Resumable, since: tuple[str, int]) -> bool:
    """True when the events after this (epoch, offset) are all in memory, or cannot be replayed at all: the journal need
    not be read."""
    return _is_lost(channel, since) or channel.recent.after(since[1]) is not None


def missed_by(
    channel: Resumable, request: WatchRequest, older: list[tuple[int, Any]] | None
) -> list[tuple[int | None, Any]] | None:
    """Return the events between what a client has and now; None when it must take a snapshot.

    Args:
        channel: what is watched.
        request: who watches, and from where.
        older: the journal's events after `request.since`, without a gap; None when they are not known.
    """
    since = request.since
    if since is None or _is_lost(channel, since):
        return None
    if since[1] == channel.offset:
        return []
    if request.mode == "snapshot":
        return None
    missed = channel.recent.since(since[1], older, newest=channel.offset)
    return None if missed is None else [*missed]


def _is_lost(channel: Resumable, since: tuple[str, int]) -> bool:
    """True when no events tell what has happened since: of another history, or something without an offset.

    What has no offset is never replayed, so where a snapshot shows it, as a new name, only a snapshot makes up for it.
    That holds for friends' presence as well: contract §9 gives it no offset, and promises `recovered` only for what can
    be replayed. Its other two, typing and read, are in no snapshot, and are left out.

    A channel that was made since, as after a restart of the process, knows of none of it: rows do not say when a name
    was changed, and snapshots for all who come back at once are what replays are to spare.
    """
    return since[0] != channel.epoch or since[1] > channel.offset or since[1] <= channel.reframed_at
