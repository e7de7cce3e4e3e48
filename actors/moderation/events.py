"""What the domains whose things are judged tell moderators."""

import msgspec


class QueueMoved(msgspec.Struct, frozen=True):
    """What waits for moderators may have changed: a report or a cape came, was judged, or is gone."""


QUEUES = "queues of moderators"
"""Reconciliation subject of changes that move a queue."""
