"""What callers spend of their buckets on one node, told to the others, whose buckets owe it then.

Only who spends much is told of: a caller who has taken a sixteenth of a bucket since the others heard of them last. So
most callers cost nothing, and what each node does not know is less than that sixteenth. Nobody waits for it: until the
others have heard, a caller may empty a bucket on each node, and waits the longer after that.
"""

from itertools import islice
from typing import TypeAlias

import msgspec

from routes.edge.buckets import Bucket

TOLD_OF = 16
"""A caller is told of who has spent such a part of a full bucket."""

DUE_MAX = 65_536
"""Most buckets that wait to be told of; what is spent of others meanwhile is told with what comes after it."""

Key: TypeAlias = tuple[str, str, str]
"""Which bucket: the name of its policy, the key that is counted by, and what names the subject or is empty."""


class Spent(msgspec.Struct, frozen=True, array_like=True):
    """Tokens that were taken on another node.

    Args:
        policy: its name.
        caller: the key that is counted by.
        suffix: what names the subject; empty for none.
        quota: tokens in a full bucket of theirs.
        tokens: how many were taken.
    """

    policy: str
    caller: str
    suffix: str
    quota: int
    tokens: int


class Spending:
    """What has been taken here and is due to be told.

    Args:
        due_max: most buckets that wait to be told of.
    """

    def __init__(self, due_max: int = DUE_MAX) -> None:
        self._due_max = due_max
        self._due: dict[Key, tuple[Bucket, int]] = {}  # {which: (it, its quota)}

    def __len__(self) -> int:
        """How many buckets wait to be told of."""
        return len(self._due)

    def note(self, bucket: Bucket, key: Key, quota: int, tokens: int = 1) -> None:
        """Count tokens that were taken.

        Args:
            bucket: that they were taken from.
            key: which it is.
            quota: tokens in it when it is full.
            tokens: how many were taken.
        """
        if bucket.untold is None:
            return
        bucket.untold += tokens
        if bucket.untold * TOLD_OF >= quota and len(self._due) < self._due_max:
            self._due[key] = (bucket, quota)

    def pop(self, most: int) -> list[Spent]:
        """What is due, the oldest first; it is due no more.

        Args:
            most: how many at most.
        """
        told = []
        for key in list(islice(self._due, most)):
            bucket, quota = self._due.pop(key)
            told.append(Spent(*key, quota, bucket.untold or 0))
            bucket.untold = 0
        return told
