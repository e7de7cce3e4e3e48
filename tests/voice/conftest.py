"""What tests of voice share."""

from tests.support.world import world

__all__ = ["world"]
