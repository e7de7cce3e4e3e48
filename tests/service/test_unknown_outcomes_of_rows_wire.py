"""Wire: the answer to a COMMIT is lost, in every domain. What is read afterwards is what the rows say, whether the
change was made or not; repeated under its Idempotency-Key it answers as ever, and is there once.

A turn that is one statement, such as a message, has no COMMIT to be lost at (`tests/persistence/test_late_commits.py`).
What memory and open sockets show of such a change is in `test_unknown_outcomes_wire.py`, and beside the tests of
friends, parties and game servers.
"""

from typing import Any

import pytest

from routes.domains import DOMAINS
from tests.service.changes import CASES, Case
from tests.support.losing import lose, proxy, settled, world
from tests.support.proxy import Proxy
from tests.support.world import World

__all__ = ["proxy", "world"]

ELSEWHERE = {
    "friends": "tests/friends/test_unknown_outcome_wire.py",
    "party": "tests/friends/test_unknown_outcome_wire.py",
    "catalogs": "changes nothing",
    "console": "changes nothing",
    "games": "changes nothing",
    "ip": "changes nothing",
    "mods": "changes nothing",
    "operations": "changes nothing",
    "sessions": "tests/sessions/test_sessions_wire.py",
}


def test_no_domain_is_missing() -> None:
    assert {domain.name for domain in DOMAINS} == CASES.keys() | ELSEWHERE.keys()
    assert not CASES.keys() & ELSEWHERE.keys()


@pytest.mark.parametrize("landed", [True, False])
@pytest.mark.parametrize(
    "case", [case for cases in CASES.values() for case in cases], ids=lambda case: case.__name__
)
async def test_rows_are_read_and_a_repeat_makes_it_once(
    world: World, proxy: Proxy, case: Case, *, landed: bool
) -> None:
    lost = await case(world)
    assert await lost.made() == lost.before
    await lose(proxy, lost.caller, lost.method, lost.path, lost.body, landed=landed, said=lost.said)
    await settled(world)
    assert await lost.made() == lost.before + landed
    again: Any = await lost.caller.ask(lost.method, lost.path, lost.body, headers={"idempotency-key": "once"})
    assert again.status_code in (200, 201, 202, 204), again.text
    assert await lost.made() == lost.before + 1
