"""Levels (contract §10): getting from level n to the next takes 100·n experience. Pure."""

from math import isqrt

import msgspec

XP_PER_LEVEL = 100
"""The experience that level 1 takes; each level takes this much more than the one before."""


class Level(msgspec.Struct, frozen=True):
    """A user's level and their progress in it.

    Args:
        level: the level, from 1.
        xp: the experience gathered since this level began.
        xp_for_next: the experience that the whole of this level takes.
    """

    level: int
    xp: int
    xp_for_next: int


def level_of(total_xp: int) -> Level:
    """The level that a total experience amounts to.

    Args:
        total_xp: the experience gathered in all, from 0.
    """
    # The largest n with 50·n·(n-1) <= total.
    level = (1 + isqrt(1 + 8 * total_xp // XP_PER_LEVEL)) // 2
    return Level(level, total_xp - XP_PER_LEVEL * level * (level - 1) // 2, XP_PER_LEVEL * level)
