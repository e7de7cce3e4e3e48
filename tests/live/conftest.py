"""Fixtures of the live sockets' tests."""

from tests.support.world import each_edge, world

__all__ = ["each_edge", "world"]
