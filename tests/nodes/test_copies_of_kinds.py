"""A copy that follows the turns of an owner is what the owner is: of every kind that can be watched.

Commands are decided one after the other, and the copy reads the rows where an event says that it has to.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import msgspec
import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.kernel.facets import UNWATCHED, Followers
from actors.kernel.kind import Kind
from actors.kernel.nodes.entries import encode
from actors.kernel.recovery import recover
from persistence.bridge.database import Database
from persistence.journal import journal
from tests.kernel.sharing import Rows, StillClock, Subject, prepare, put_back
from tests.kernel.sharing_kinds import SUBJECTS
from tests.support.actors import ask_at_once, open_actors
from tests.support.database import PATIENCE_SECONDS
from tests.support.warm import WARM

EXAMPLES = 5

WATCHED = tuple(one for one in SUBJECTS if one().kind.rendering is not UNWATCHED)


async def _follow(url: str, subject: Subject, prepared: list[Rows], commands: Sequence[Any]) -> None:
    told: list[Any] = []
    followers = replace(
        subject.kind.followers or Followers(), on_committed=lambda _state, event: told.append(event)
    )
    kind = replace(subject.kind, followers=followers)
    decode = msgspec.msgpack.Decoder(kind.events).decode
    async with WARM.open(url, timeout_seconds=PATIENCE_SECONDS) as database:
        if not prepared:
            prepared.append(await prepare(database, subject))
        await database.transact(put_back, prepared[0])
        async with open_actors(database, kind, clock=StillClock()) as system:
            copy = await _read(database, kind, subject.id)
            for command in commands:
                told.clear()
                await ask_at_once(system, kind, subject.id, [command])
                if any(event.needs_rows for event in told):
                    copy = await _read(database, kind, subject.id)
                else:
                    for event in told:
                        copy = kind.apply(copy, decode(encode(event)))
            owner = system.peek(kind, subject.id)
    assert _shown(kind, copy) == _shown(kind, owner)


async def _read(database: Database, kind: Kind[Any, Any], id: str) -> Any:
    recovered = await database.read(recover, journal, kind, id)
    assert recovered is not None
    return recovered.state


def _shown(kind: Kind[Any, Any], state: Any) -> Any:
    """The state without what only deciding needs: whether rows have to be looked up that are usually absent."""
    distrust = None if kind.lookups is None else kind.lookups.distrust
    return state if distrust is None else distrust(state)


@pytest.mark.slow
@pytest.mark.parametrize("subject_of", WATCHED, ids=lambda subject_of: subject_of.__name__)
def test_a_copy_is_what_its_owner_is(subject_of: Callable[[], Subject], database_url: str) -> None:
    subject = subject_of()
    prepared: list[Rows] = []

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(subject.steps, min_size=10, max_size=25))
    def holds(steps: list[Sequence[Callable[[int], Any]]]) -> None:
        commands = [step(n) for n, step in enumerate(chain.from_iterable(steps))]
        trio.run(_follow, database_url, subject, prepared, commands[:200])

    holds()
