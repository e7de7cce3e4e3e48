"""Fixtures of the tests of releases."""

from tests.support.world import world

__all__ = ["world"]
