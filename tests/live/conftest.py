"""Fixtures of the live sockets' tests."""

from tests.support.world import world

__all__ = ["world"]
