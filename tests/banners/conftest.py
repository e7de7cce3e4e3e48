"""Fixtures of the tests of banners."""

from tests.support.world import world

__all__ = ["world"]
