"""What tests of friends share."""

from tests.support.world import world

__all__ = ["world"]
