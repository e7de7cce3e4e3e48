"""Fixtures of totems' tests."""

from tests.support.world import world

__all__ = ["world"]
