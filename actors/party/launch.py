"""The launch signal: all members are ready for something that starts in rounds (service-api §3, contract §6).

Two things make it so: the word of the last member who was not ready, and the going of the last who was not. A
selection, a change of the members or anybody's `ready=false` takes it away; a member who leaves after it was given does
not cause another one, since the rest have started.
"""

from collections.abc import Collection
from hashlib import sha256

from actors.ids import new_object_id
from actors.party.state import Signal, State


def launch(state: State, member_ids: Collection[str], now_ms: int) -> Signal | None:
    """A new signal for members who are all ready, or None where nothing starts at once.

    The signal's id is derived from the party and its revision, so that the rule needs no randomness.

    Args:
        member_ids: the members who start, the longest-standing first; may be empty, and then nothing starts.
        now_ms: epoch milliseconds.
    """
    selection = state.lobby.selection
    if not member_ids or selection is None or not selection.round_based:
        return None
    digest = sha256(f"{state.id} {state.revision}".encode()).digest()
    return Signal(
        id=new_object_id(now_ms, lambda length: digest[:length]),
        revision=state.lobby.revision,
        created_at_ms=now_ms,
        target_kind=selection.target_kind,
        target_id=selection.target_id,
        server_address=selection.server_address,
        member_ids=tuple(member_ids),
    )
