"""Fixtures of game servers' tests."""

from tests.support.world import world

__all__ = ["world"]
