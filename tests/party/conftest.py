"""What tests of parties share."""

from tests.support.world import world

__all__ = ["world"]
