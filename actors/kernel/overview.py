"""What a running system has to do altogether: totals that are cheap to take, for metrics that are sampled."""

from typing import NamedTuple

from actors.kernel.directory import System


class Load(NamedTuple):
    """Totals over all owners and views of a process.

    Args:
        actors: how many are live.
        mailbox: commands that are queued.
        replay_bytes: encoded events held in memory for clients that reconnect.
    """

    actors: int
    mailbox: int
    replay_bytes: int


def load_of(system: System) -> Load:
    """The totals now; walks all owners once (0.2 µs each), without making anything of them."""
    owners = system.actors()
    mailbox = replay_bytes = 0
    for owner in owners:
        mailbox += len(owner.mailbox)
        if owner.channel is not None:
            replay_bytes += owner.channel.recent.bytes
    return Load(len(owners) + len(system.live_views()), mailbox, replay_bytes)
