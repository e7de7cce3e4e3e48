"""Fixtures of the tests of launchers."""

from tests.support.world import world

__all__ = ["world"]
