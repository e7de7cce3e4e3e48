"""Wire: the answer to a COMMIT is lost, in every domain. What is read afterwards is what the rows say, whether the
change was made or not; repeated under its Idempotency-Key it answers as ever, and is there once.

A turn that is one statement, such as a message, has no COMMIT to be lost at (`tests/persistence/test_late_commits.py`).
What memory and open sockets show of such a change is in `test_unknown_outcomes_wire.py`, and beside the tests of
friends, parties and game servers.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from routes.domains import DOMAINS
from tests.service import lost_changes
from tests.support.losing import lose, proxy, settled, world
from tests.support.proxy import Proxy
from tests.support.world import World

__all__ = ["proxy", "world"]

CASES: dict[str, tuple[Callable[[World], Awaitable[lost_changes.Lost]], ...]] = {
    "users": (lost_changes.a_share, lost_changes.a_role),
    "saved_servers": (lost_changes.a_saved_server,),
    "banners": (lost_changes.a_banner,),
    "capes": (lost_changes.a_cape,),
    "notifications": (lost_changes.notifications_read,),
    "reports": (lost_changes.a_report,),
    "moderation": (lost_changes.a_note,),
    "chat": (lost_changes.a_vote, lost_changes.a_group),
    "connect": (lost_changes.settings_of_a_server,),
    "publications": (lost_changes.a_publication, lost_changes.a_judgement),
    "networks": (lost_changes.a_network,),
    "discord": (lost_changes.a_webhook_of_discord,),
    "gateways": (lost_changes.a_drained_gateway,),
    "totems": (lost_changes.a_totem,),
    "news": (
        lost_changes.an_article,
        lost_changes.a_change_of_an_article,
        lost_changes.follows_of_news,
        lost_changes.a_vote_in_an_article,
    ),
    "launcher": (lost_changes.a_performance_report, lost_changes.an_allowlist),
    "quests": (lost_changes.a_reroll,),
    "services": (lost_changes.a_service,),
    "shop": (lost_changes.a_checkout, lost_changes.a_purchase_marked_as_paid, lost_changes.a_product),
    "versions": (lost_changes.a_release, lost_changes.an_activation),
    "voice": (lost_changes.a_voice_node, lost_changes.a_voice_channel, lost_changes.a_voice_session),
}

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


@pytest.mark.parametrize("landed", [True, False])
@pytest.mark.parametrize(
    "case", [case for cases in CASES.values() for case in cases], ids=lambda case: case.__name__
)
async def test_rows_are_read_and_a_repeat_makes_it_once(
    world: World, proxy: Proxy, case: Callable[[World], Awaitable[lost_changes.Lost]], *, landed: bool
) -> None:
    lost = await case(world)
    assert await lost.made() == lost.before
    await lose(proxy, lost.caller, lost.method, lost.path, lost.body, landed=landed, said=lost.said)
    await settled(world)
    assert await lost.made() == lost.before + landed
    again: Any = await lost.caller.ask(lost.method, lost.path, lost.body, headers={"idempotency-key": "once"})
    assert again.status_code in (200, 201, 202, 204), again.text
    assert await lost.made() == lost.before + 1
