"""The whole service."""

from tests.support.world import world

__all__ = ["world"]
