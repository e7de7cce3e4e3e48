"""Fixtures of the tests of quests."""

from tests.support.world import world

__all__ = ["world"]
