"""Whether this node minds voice."""


class Watch:
    """Whether this node minds voice, and under which fence of the shard that says so.

    Attributes:
        is_new: it has come to that from another node, and what that one was about to do is to be looked at.
    """

    def __init__(self) -> None:
        self.is_new = False
        self._fence: int | None = None
        self._was_left = False

    def leave(self) -> None:
        """Another node minds it, or none does."""
        self._fence, self._was_left = None, True

    def take(self, fence: int) -> bool:
        """This node minds it; returns whether another one may have done so since it did last."""
        begins = self._was_left or self._fence not in {None, fence}
        self._fence, self._was_left = fence, False
        self.is_new = self.is_new or begins
        return begins
