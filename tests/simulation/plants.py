"""Faults that are planted to show that the simulation finds them: this code, or its like, once had each of them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import trio
from msgspec.structs import replace

from actors.kernel import fanout, opening
from actors.kernel.fanout import Channel
from actors.kernel.resuming import missed_by
from actors.kernel.turn import TurnDraft
from actors.party import rules_members
from actors.party.events import MembersLeft
from actors.party.memberships import Memberships
from actors.party.state import State
from persistence.errors import DatabaseUnavailable, OutcomeUnknown, PersistenceError
from persistence.journal.journal import Head
from persistence.journal.turn import Turn
from routes.chat import doubts
from tests.simulation.report import Fault
from tests.simulation.store import Entry, SimulatedStore
from tests.simulation.tables import Tables


@dataclass(frozen=True, slots=True, eq=False)
class Plant(Fault):
    """One fault.

    Args:
        tables, store: what stands in place of the right ones.
    """

    tables: type[Tables] = Tables
    store: type[SimulatedStore] = SimulatedStore


class _SeqOnly(Tables):
    """A turn without events moves nothing that the next one is compared with."""

    def fits(self, turn: Turn, head: Head) -> bool:
        return head.seq == turn.seq


class _Unfenced(Tables):
    """A turn is committed whoever has the lease by now."""

    def holds(self, turn: Turn) -> bool:
        return True


class _Unsealed(Tables):
    """A turn of unknown outcome may land after its actor was loaded again."""

    async def seal(self, _conn: object, kind: str, id: str, *, shard: int, fence: int) -> None:
        pass


class _SureOfNothing(SimulatedStore):
    """What nobody knows to be committed is said not to be."""

    def _tell(self, batch: list[Entry], outcomes: list[PersistenceError | None]) -> None:
        for entry, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, OutcomeUnknown):
                entry.done(DatabaseUnavailable("nothing was changed, it is said"))
            else:
                entry.done(outcome)


class _Early(SimulatedStore):
    """A turn is acknowledged when it is sent, and not when it is on disk."""

    def submit(self, turn: Turn, done: Callable[[PersistenceError | None], None], /) -> None:
        super().submit(turn, lambda _outcome: None)
        trio.lowlevel.current_trio_token().run_sync_soon(done, None)


def _without_newer(channel: Channel, request: Any, older: Any) -> Any:
    """What was published while the journal was read is not sent."""
    missed = missed_by(channel, request, older)
    if not missed or not older:
        return missed
    return [entry for entry in missed if entry[0] <= older[-1][0]]


def _keeping_texts(channel: Channel, *args: Any, **options: Any) -> None:
    """Events of memory are replayed as they were, although their texts are gone."""
    _publish(channel, *args, **options | {"rewrites": False})


def _deaf(*_: Any) -> None:
    pass


async def _asleep(*_: Any) -> None:
    await trio.sleep_forever()


def _led_from_outside(state: State, gone: Collection[str], *args: Any) -> MembersLeft:
    event = _left(state, gone, *args)
    return event if event.leader_id is None else replace(event, leader_id=state.leader_id)


_left = rules_members._left

_publish = Channel.publish

PLANTS = (
    Plant("votes of a crowd in one turn are lost", patches=((TurnDraft, "_changes", lambda *_: False),)),
    Plant("a late commit is written over", tables=_SeqOnly, first=1_260),
    Plant("a stale owner writes after its lease went", tables=_Unfenced),
    Plant("an unknown outcome is answered as a failure", store=_SureOfNothing),
    Plant("an answer comes before the commit", store=_Early),
    Plant(
        "a subscription misses what happened while it was opened",
        patches=((fanout, "missed_by", _without_newer),),
        first=2_100,
    ),
    Plant(
        "a deleted text is told to those who come back",
        patches=((Channel, "publish", _keeping_texts),),
        first=290,
    ),
    Plant("a deadline is lost when its process ends", patches=((opening, "wake_due", _asleep),), first=20),
    Plant("a commit lands late, and memory does not hear of it", tables=_Unsealed, first=3_390),
    Plant(
        "who is in a party is not asked again after a turn of unknown outcome",
        patches=((Memberships, "distrust", _deaf),),
        first=510,
    ),
    Plant("a leader who leaves goes on leading", patches=((rules_members, "_left", _led_from_outside),)),
    Plant(
        "an inbox is not told of a turn of unknown outcome",
        patches=((doubts, "follow_doubts", _deaf),),
        first=3_500,
    ),
)
"""All of them; `test_plants.py` shows that each is found."""
