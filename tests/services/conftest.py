"""Fixtures of services' tests."""

from tests.support.world import world

__all__ = ["world"]
