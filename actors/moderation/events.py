"""The event by which other domains say that what waits for moderators has changed."""

import msgspec


class QueueMoved(msgspec.Struct, frozen=True):
    """The reports or capes that wait for moderators may be others: one came, was judged, or is gone."""


QUEUES = "queues of moderators"
"""The subject that is reconciled after a change to a queue whose outcome is unknown."""
