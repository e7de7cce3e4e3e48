"""Wire tests of capes run on both servers."""

from tests.support.world import world

__all__ = ["world"]
