"""What these tests share."""

from tests.support.world import world

__all__ = ["world"]
