"""What has happened in a durable view since it was last shown: remembered, to be read, or not known any more."""

from enum import Enum
from typing import Any, Literal, TypeAlias

from actors.kernel.fanout import Channel
from actors.kernel.kind import Durable


class Ask(Enum):
    """Whom to ask what has happened."""

    ROWS = "rows"


ROWS = Ask.ROWS

Missed: TypeAlias = list[tuple[int, Any]] | None
"""What has happened, (offset, event) in order; None where that is not known any more."""


def missed_since(durable: Durable[Any] | None, channel: Channel, state: Any) -> Missed | Literal[Ask.ROWS]:
    """What has happened between what a channel has told and a newer state.

    Args:
        durable: of the view; nothing is known to happen in one that is not.
        channel: the view's.
        state: at the same place or further.
    """
    if durable is None:
        return []
    epoch, offset = durable.position(state)
    if epoch != channel.epoch or offset < channel.offset:
        return None
    if offset == channel.offset:
        return []
    recalled = None if durable.recall is None else durable.recall(state, channel.offset)
    return ROWS if recalled is None else recalled
