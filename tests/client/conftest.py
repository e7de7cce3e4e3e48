"""Fixtures of the Python client's tests."""

from tests.support.world import world

__all__ = ["world"]
