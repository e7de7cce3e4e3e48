"""Fixtures of the tests of the shop."""

from tests.support.world import world

__all__ = ["world"]
