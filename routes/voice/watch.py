"""Whether this node minds voice."""


class Watch:
    """Whether this node minds voice, and the fence of the shard under which it does.

    Attributes:
        is_new: it has just taken over from another node, and must still look at what that one was about to do.
    """

    def __init__(self) -> None:
        self.is_new = False
        self._fence: int | None = None
        self._was_left = False

    def leave(self) -> None:
        """Note that another node minds voice, or none does."""
        self._fence, self._was_left = None, True

    def take(self, fence: int) -> bool:
        """Note that this node minds voice; returns whether another node may have done so since it last did."""
        begins = self._was_left or self._fence not in {None, fence}
        self._fence, self._was_left = fence, False
        self.is_new = self.is_new or begins
        return begins
