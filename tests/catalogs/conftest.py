"""Fixtures of the tests of catalogs."""

from tests.support.world import world

__all__ = ["world"]
