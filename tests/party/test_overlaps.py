"""Which events change the rows that a command to a party needs: those by which somebody comes or goes."""

import pytest

from actors.party import events
from actors.party.events import AnyEvent
from actors.party.lookups import overlaps
from actors.party.state import Member
from tests.party.play import NOW_MS, uid

BOB = uid("bob")
ROWS: list[tuple[AnyEvent, bool]] = [
    (events.MemberJoined(Member(BOB, "bob", NOW_MS), NOW_MS), True),
    (events.MemberJoined(Member(uid("cid"), "cid", NOW_MS), NOW_MS), False),
    (events.MembersLeft((uid("cid"), BOB), uid("ann"), NOW_MS), True),
    (events.MembersLeft((uid("cid"),), None, NOW_MS), False),
    (events.InvitesGone((BOB,), NOW_MS), False),
    (events.InvitesLapsed((BOB,), NOW_MS), False),
    (events.LeaderChanged(BOB, NOW_MS), False),
    (events.PresenceChanged(BOB, None), False),
]


@pytest.mark.parametrize(("event", "changed"), ROWS)
def test_a_need_overlaps_with_the_events_that_change_its_rows(event: AnyEvent, changed: bool):
    assert overlaps(event, (BOB, uid("ann"))) is changed
    assert not overlaps(event, (uid("ann"), BOB))
