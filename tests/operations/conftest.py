"""Fixtures of operations' tests."""

from tests.support.world import world

__all__ = ["world"]
