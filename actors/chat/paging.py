"""Which messages a page holds, as far as memory knows them."""

from collections.abc import Sequence

from actors.chat.lookups import place, record_bytes
from actors.chat.state import State
from actors.chat.window import WINDOW_BYTES, Line
from actors.pages import fitting


def newest(state: State, limit: int, *, include_archived: bool) -> tuple[Sequence[Line], bool]:
    """The newest messages in memory, oldest first, and whether there are older ones.

    Args:
        limit: how many messages at most.
        include_archived: whether archived messages are merged in.
    """
    lines, elsewhere = _in_memory(state, include_archived)
    return lines[-limit:], elsewhere or len(lines) > limit


def before(
    state: State, before_ms: int, limit: int, *, include_archived: bool
) -> tuple[Sequence[Line], bool] | None:
    """The newest messages before a moment, oldest first, and whether there are older ones; None when rows have to be
    read for them.

    Args:
        before_ms: the moment, epoch milliseconds.
        limit: how many messages at most.
        include_archived: whether archived messages are merged in.
    """
    lines, elsewhere = _in_memory(state, include_archived)
    wanted = [line for line in lines if line.created_at_ms < before_ms]
    if elsewhere and len(wanted) < limit:
        return None
    return wanted[-limit:], elsewhere or len(wanted) > limit


def _in_memory(state: State, include_archived: bool) -> tuple[Sequence[Line], bool]:
    """The newest of all lines in order, without a gap and no more than a page may have, and whether rows hold more."""
    if not include_archived:
        return state.window, state.older_live
    if not (state.archived or state.older_archived_ms):
        return state.window, state.older_live
    complete_from_ms = state.older_archived_ms + 1 if state.older_archived_ms else 0
    if state.older_live and state.window:
        complete_from_ms = max(complete_from_ms, state.window[0].created_at_ms)
    newest_first = sorted((*state.window, *state.archived), key=place, reverse=True)
    certain = [line for line in newest_first if line.created_at_ms >= complete_from_ms]
    shown = fitting(certain, record_bytes, WINDOW_BYTES)
    elsewhere = state.older_live or state.older_archived_ms > 0 or len(shown) < len(certain)
    return shown[::-1], elsewhere
