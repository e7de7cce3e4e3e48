"""Finds the events of a durable view since it was last published: in its state, or in rows, or nowhere any more."""

from enum import Enum
from typing import Any, Literal, TypeAlias

from actors.kernel.fanout import Channel
from actors.kernel.kind import Durable


class Ask(Enum):
    """The answer "the rows must be read", as a type of its own beside lists and None."""

    ROWS = "rows"


ROWS = Ask.ROWS

Missed: TypeAlias = list[tuple[int, Any]] | None
"""The missed events, (offset, event) in order; None where they are not known any more."""


def missed_since(durable: Durable[Any] | None, channel: Channel, state: Any) -> Missed | Literal[Ask.ROWS]:
    """Return the events between a channel's last publication and a newer state; ROWS when rows must be read for them.

    Args:
        durable: the view's durable offsets; None when its offsets count in memory, and then nothing is missed.
        channel: the view's channel.
        state: a state of the view at the channel's position or beyond it.
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
