"""What callers spend of their rate limits on one node, told to the other nodes, which take it from their own buckets.

Nodes tell only of callers who have taken a sixteenth of a bucket since the others last heard of them. So most callers
cost nothing, and what a node does not know of is less than that sixteenth. No request waits for it: until the other
nodes have heard, a caller may empty a bucket on each node, and then has to wait the longer.
"""

from itertools import islice
from typing import TypeAlias

import msgspec

from routes.edge.buckets import Bucket

TOLD_OF = 16
"""A caller's spending is told once it is this part, one sixteenth, of a full bucket."""

DUE_MAX = 65_536
"""Most buckets that wait to be told of. What is spent of further ones is told together with what is spent later."""

Key: TypeAlias = tuple[str, str, str]
"""Names a bucket: its policy's name, the caller's key, and the suffix for the subject, or ""."""


class Spent(msgspec.Struct, frozen=True, array_like=True):
    """Tokens that were taken on another node.

    Args:
        policy: the policy's name.
        caller: the key by which the caller is counted.
        suffix: what names the subject; empty for none.
        quota: how many tokens a full bucket of this caller has.
        tokens: how many were taken.
    """

    policy: str
    caller: str
    suffix: str
    quota: int
    tokens: int


class Spending:
    """The tokens that were taken on this node and that other nodes are still to be told of.

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
            bucket: the bucket that they were taken from.
            key: the bucket's name.
            quota: how many tokens the bucket has when it is full.
            tokens: how many tokens were taken.
        """
        if bucket.untold is None:
            return
        bucket.untold += tokens
        if bucket.untold * TOLD_OF >= quota and len(self._due) < self._due_max:
            self._due[key] = (bucket, quota)

    def pop(self, most: int) -> list[Spent]:
        """Take what is due to be told, the oldest first.

        Args:
            most: how many buckets at most.
        """
        told = []
        for key in list(islice(self._due, most)):
            bucket, quota = self._due.pop(key)
            told.append(Spent(*key, quota, bucket.untold or 0))
            bucket.untold = 0
        return told
