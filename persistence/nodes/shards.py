"""The parts into which all actors are divided, so that several nodes can own some each.

A row's shard is stored (`heads.shard`), so neither the number of shards nor the function may ever change.
"""

from zlib import crc32

SHARDS = 1_024
"""Shards of actors: enough to spread evenly over a hundred nodes, few enough to read and move in one statement."""

JOB_SHARDS = 16
"""Further shards, above those of the actors, whose owners do the work that one node does for all."""

ALL_SHARDS = range(SHARDS + JOB_SHARDS)
"""Every shard there is a lease of."""


def shard_of(kind: str, id: str) -> int:
    """The shard of an actor, 0 to 1,023: the CRC-32 of its kind and id, the same in every process and for ever."""
    return crc32(f"{kind}:{id}".encode()) % SHARDS


def shard_of_job(name: str) -> int:
    """The shard whose owner runs the job with this name, when one node runs it for all."""
    return SHARDS + crc32(name.encode()) % JOB_SHARDS
