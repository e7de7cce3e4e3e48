"""Fixtures of moderation's tests."""

from tests.support.world import world

__all__ = ["world"]
