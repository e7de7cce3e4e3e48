"""Fixtures of these tests."""

from tests.support.world import world

__all__ = ["world"]
