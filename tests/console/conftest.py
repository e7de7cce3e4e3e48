"""Fixtures of the tests of the console."""

from tests.support.world import world

__all__ = ["world"]
