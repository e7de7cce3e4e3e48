"""Fixtures of the tests about addresses."""

from tests.support.world import world

__all__ = ["world"]
