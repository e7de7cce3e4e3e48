"""What a conversation can do without in memory: messages, and votes in their polls, that rows hold as well.

A slim one holds the newest messages still, some forty of ordinary length, so that most snapshots show what they would.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from actors.chat.lookups import newest_left_out_ms, place, record_bytes
from actors.chat.state import State
from actors.chat.window import WINDOW_BYTES, WINDOW_LINES, Line, Window
from actors.kernel.facets import Slimming
from actors.pages import fitting

SLIM_BYTES = 16 * 1024
"""Most bytes of messages and votes that a slim conversation holds; the newest message whatever its size."""

VOTE_BYTES = 256
"""About what one member's vote in one poll takes in memory."""


def spare_bytes(state: State) -> int:
    """About how many bytes `slim` would set free."""
    votes = sum(map(len, state.votes.values())) if state.votes else 0
    archived = sum(map(record_bytes, state.archived)) if state.archived else 0
    return max(0, state.window.size_bytes + archived + votes * VOTE_BYTES - SLIM_BYTES)


def changed_ms(state: State) -> int:
    """When something was said last, or changed, epoch milliseconds."""
    return max(state.updated_at_ms, state.last_ms)


def slim(state: State) -> State:
    """The state with no more than its newest messages, archived ones among them."""

    def cost(line: Line) -> int:
        return record_bytes(line) + VOTE_BYTES * len(state.votes.get(line.id, ()))

    newest_first = sorted((*state.window, *state.archived), key=place, reverse=True)
    kept = {line.id for line in fitting(newest_first, cost, SLIM_BYTES)}
    # The newest live message stays: by it the others are found in rows.
    live: Sequence[Line] = [line for line in state.window if line.id in kept] or state.window[-1:]
    archived = tuple(line for line in state.archived if line.id in kept)
    return replace(
        state,
        window=Window(live),
        votes={line.id: state.votes[line.id] for line in live if line.id in state.votes},
        older_live=state.older_live or len(live) < len(state.window),
        archived=archived,
        older_archived_ms=max(state.older_archived_ms, newest_left_out_ms(state.archived, archived)),
    )


def is_short(window: Window) -> bool:
    """Whether a window has room for older messages, if rows hold any: it is of a slim state, or messages in it were
    deleted. No message is as large as the room that a full one leaves."""
    return len(window) < WINDOW_LINES and window.size_bytes < WINDOW_BYTES // 2


SLIMMING: Slimming[State] = Slimming(spare_bytes=spare_bytes, changed_ms=changed_ms, slim=slim)
"""The slimming of the kind."""
