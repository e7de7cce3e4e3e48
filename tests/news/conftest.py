"""Fixtures of the tests of news."""

from tests.support.world import world

__all__ = ["world"]
