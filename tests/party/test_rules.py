"""Rules of parties: who may do what in which state, and what time brings."""

import pytest

from actors.party.commands import (
    AcceptInvite,
    AnyCommand,
    DeclineInvite,
    Disband,
    Expect,
    ExpectNoMore,
    HandOver,
    Kick,
    Leave,
    MeetDeadlines,
    RevokeInvite,
    Select,
    SendInvite,
    SetSelectors,
    TellBlock,
    TellPresence,
    TellRename,
)
from actors.party.events import InvitesGone
from actors.party.rules_members import due
from actors.party.state import ABSENCE_MS, EXPECTED_MS, INVITE_MS, LAPSED_KEPT_MS, MAX_INVITES
from tests.party.play import FREE, NOW_MS, ROUND, Play, getting_ready, uid

NOTICE = f"{2:024x}"

# Ann leads, Bob may select, Cid is a member, Dan is invited by Cid, Eve is a stranger: {command: refusal of each}.
ROLES = ("ann", "bob", "cid", "dan", "eve")
MATRIX: dict[str, tuple[str | None, ...]] = {
    "invite": (None, None, None, "NOT_FOUND", "NOT_FOUND"),
    "accept": (None, None, None, None, "NOT_FOUND"),
    "decline": ("NOT_FOUND", "NOT_FOUND", "NOT_FOUND", None, "NOT_FOUND"),
    "revoke": (None, "NOT_LEADER", None, "NOT_FOUND", "NOT_FOUND"),
    "expect": ("NOT_FOUND", "NOT_FOUND", "NOT_FOUND", None, "NOT_FOUND"),
    "leave": (None, None, None, None, None),
    "disband": (None, "NOT_LEADER", "NOT_LEADER", "NOT_FOUND", "NOT_FOUND"),
    "kick": (None, "NOT_LEADER", "NOT_LEADER", "NOT_FOUND", "NOT_FOUND"),
    "hand over": (None, "NOT_LEADER", "NOT_LEADER", "NOT_FOUND", "NOT_FOUND"),
    "selectors": (None, "NOT_LEADER", "NOT_LEADER", "NOT_FOUND", "NOT_FOUND"),
    "select": (None, None, "NOT_SELECTOR", "NOT_FOUND", "NOT_FOUND"),
    "ready": (None, None, None, "NOT_FOUND", "NOT_FOUND"),
    "not ready": (None, None, None, "NOT_FOUND", "NOT_FOUND"),
}


def command_of(what: str, who: str) -> AnyCommand:
    """The command by this name."""
    actor = uid(who)
    commands: dict[str, AnyCommand] = {
        "invite": SendInvite(actor, uid("fay"), NOTICE),
        "accept": AcceptInvite(actor),
        "decline": DeclineInvite(actor),
        "revoke": RevokeInvite(actor, uid("dan")),
        "expect": Expect(actor),
        "leave": Leave(actor),
        "disband": Disband(actor),
        "kick": Kick(actor, uid("cid")),
        "hand over": HandOver(actor, uid("bob")),
        "selectors": SetSelectors(actor, (uid("cid"),)),
        "select": Select(actor, ROUND),
        "ready": getting_ready(who),
        "not ready": getting_ready(who, is_ready=False),
    }
    return commands[what]


def a_party() -> Play:
    play = Play("ann", "bob", "cid")
    play.do(SetSelectors(uid("ann"), (uid("bob"),)))
    play.do(SendInvite(uid("cid"), uid("dan"), NOTICE))
    return play


@pytest.mark.parametrize(("what", "who"), [(what, who) for what in MATRIX for who in ROLES])
def test_every_role_and_command(what: str, who: str):
    refusal = MATRIX[what][ROLES.index(who)]
    play = a_party()
    assert play.refusal(command_of(what, who)) == refusal


@pytest.mark.parametrize(("what", "who"), [(what, who) for what in MATRIX for who in ROLES])
def test_nobody_can_do_anything_in_a_party_that_has_ended(what: str, who: str):
    play = a_party()
    play.do(Disband(uid("ann")))
    assert play.refusal(command_of(what, who)) == (None if what == "leave" else "NOT_FOUND")
    assert (play.state.ended, due(play.state, since_ms=NOW_MS)) == (True, None)


def test_what_an_invite_needs():
    play = Play("ann", "bob")
    play.barred.add(frozenset((uid("ann"), uid("cid"))))
    assert play.refusal(SendInvite(uid("ann"), uid("cid"), NOTICE)) == "BLOCKED"
    assert play.refusal(SendInvite(uid("bob"), uid("cid"), NOTICE)) is None
    assert play.refusal(SendInvite(uid("ann"), uid("ann"), NOTICE)) == "VALIDATION_FAILED"
    assert play.refusal(SendInvite(uid("ann"), uid("bob"), NOTICE)) == "INVALID_STATE"
    play.barred.add(frozenset((uid("bob"), uid("cid"))))
    assert play.refusal(AcceptInvite(uid("cid"))) == "BLOCKED"
    play.barred.clear()
    play.elsewhere.add(uid("cid"))
    assert play.refusal(AcceptInvite(uid("cid"))) == "INVALID_STATE"


def test_invites_are_bounded_and_lapse():
    play = Play("ann")
    for number in range(MAX_INVITES):
        play.do(SendInvite(uid("ann"), uid(f"p{number}"), NOTICE))
    assert play.refusal(SendInvite(uid("ann"), uid("more"), NOTICE)) == "QUOTA_EXCEEDED"
    assert due(play.state, since_ms=NOW_MS) == NOW_MS + INVITE_MS
    play.now_ms += INVITE_MS - 1
    assert play.do(MeetDeadlines()) == []
    play.now_ms += 1
    assert play.refusal(AcceptInvite(uid("p1"))) == "INVITE_EXPIRED"
    revision = play.state.revision
    play.do(MeetDeadlines())
    assert play.state.revision == revision + 1
    assert play.refusal(AcceptInvite(uid("p1"))) == "INVITE_EXPIRED"
    assert due(play.state, since_ms=NOW_MS) is None
    play.now_ms += LAPSED_KEPT_MS
    play.do(SendInvite(uid("ann"), uid("more"), NOTICE))
    assert list(play.state.invites) == [uid("more")]
    assert play.refusal(AcceptInvite(uid("p1"))) == "NOT_FOUND"


@pytest.mark.parametrize("told", [TellBlock(uid("ann"), uid("cid")), TellBlock(uid("cid"), uid("ann"))])
def test_a_block_takes_back_what_stands_between_the_two(told: TellBlock):
    play = Play("ann", "bob")
    for sender, target in (("ann", "cid"), ("bob", "dan"), ("ann", "eve")):
        play.do(SendInvite(uid(sender), uid(target), NOTICE))
    assert play.do(told) == ()  # the block has ended since
    play.barred |= {frozenset((uid("ann"), uid("cid"))), frozenset((uid("ann"), uid("dan")))}
    assert play.do(TellBlock(uid("ann"), uid("dan"))) == ()  # it was Bob who invited Dan
    assert play.do(told) == (InvitesGone((uid("cid"),), NOW_MS),)
    assert list(play.state.invites) == [uid("dan"), uid("eve")]
    revision = play.state.revision
    assert play.do(told) == ()
    assert play.state.revision == revision


def test_a_block_takes_back_nothing_that_is_over():
    play = Play("ann")
    play.do(SendInvite(uid("ann"), uid("bob"), NOTICE))
    play.barred.add(frozenset((uid("ann"), uid("bob"))))
    told = TellBlock(uid("ann"), uid("bob"))
    play.now_ms += INVITE_MS
    assert play.do(told) == ()
    assert [type(event).__name__ for event in play.do(MeetDeadlines())] == ["InvitesLapsed"]
    assert play.do(told) == ()
    play.do(Disband(uid("ann")))
    assert play.do(told) == ()


def test_nothing_lapses_in_a_party_that_has_ended():
    play = Play("ann")
    play.do(SendInvite(uid("ann"), uid("bob"), NOTICE))
    play.do(Disband(uid("ann")))
    play.now_ms += INVITE_MS
    assert play.do(MeetDeadlines()) == ()


@pytest.mark.parametrize(
    ("online", "heir"), [(("bob", "cid"), "bob"), (("cid",), "cid"), ((), "bob"), (("ann",), "bob")]
)
def test_who_leads_when_the_leader_leaves(online: tuple[str, ...], heir: str):
    play = Play("ann", "bob", "cid")
    play.online = {uid(name) for name in online}
    play.do(Leave(uid("ann")))
    assert play.state.leader_id == uid(heir)


def test_the_last_member_does_not_go_to_another_party_while_somebody_is_expected():
    ann, bob, cid = uid("ann"), uid("bob"), uid("cid")
    elsewhere = Leave(ann, for_another=True)
    play = Play("ann", "bob")
    play.do(SendInvite(ann, cid, NOTICE))
    play.do(Expect(cid))
    revision = play.state.revision
    assert play.refusal(Leave(bob, for_another=True)) is None
    assert play.refusal(elsewhere) == "INVALID_STATE"
    play.do(ExpectNoMore(cid))
    assert not play.do(ExpectNoMore(cid))
    assert (play.state.revision, play.state.expected) == (revision + 1, {})
    play.do(Expect(cid))
    assert play.refusal(elsewhere) == "INVALID_STATE"
    play.now_ms += EXPECTED_MS
    assert play.refusal(elsewhere) is None


def test_whoever_was_expected_and_has_come_is_expected_no_more():
    ann, cid = uid("ann"), uid("cid")
    play = Play("ann")
    play.do(SendInvite(ann, cid, NOTICE))
    play.do(Expect(cid))
    play.do(AcceptInvite(cid))
    play.do(Leave(cid))
    assert play.refusal(Leave(ann, for_another=True)) is None


def test_whoever_leaves_for_good_does_not_wait_for_those_who_are_expected():
    ann, cid = uid("ann"), uid("cid")
    play = Play("ann")
    play.do(SendInvite(ann, cid, NOTICE))
    play.do(Expect(cid))
    assert play.refusal(Leave(ann)) is None


def test_selectors_and_the_leader():
    play = Play("ann", "bob", "cid")
    play.do(SetSelectors(uid("ann"), (uid("ann"), uid("cid"), uid("bob"))))
    assert play.state.lobby.selector_ids == (uid("bob"), uid("cid"))
    assert play.do(SetSelectors(uid("ann"), (uid("cid"), uid("bob")))) == ()
    assert play.refusal(SetSelectors(uid("ann"), (uid("eve"),))) == "VALIDATION_FAILED"
    play.do(HandOver(uid("ann"), uid("bob")))
    assert [play.state.is_selector(uid(name)) for name in ("ann", "bob", "cid")] == [False, True, True]
    play.do(Leave(uid("cid")))
    assert play.state.lobby.selector_ids == ()


def test_the_launch_signal():
    play = Play("ann", "bob")
    play.select()
    play.do(getting_ready("ann"))
    assert play.state.lobby.signal is None
    play.do(getting_ready("bob"))
    signal = play.state.lobby.signal
    assert signal is not None
    assert (signal.revision, signal.member_ids) == (1, (uid("ann"), uid("bob")))
    assert play.do(getting_ready("bob")) == ()
    play.do(getting_ready("bob", hash_=play.state.lobby.requirement_hash))
    assert play.state.lobby.signal == signal
    play.do(getting_ready("ann", is_ready=False))
    assert play.state.lobby.signal is None
    play.do(getting_ready("ann"))
    assert play.state.lobby.signal is not None
    play.do(Leave(uid("bob")))
    assert play.state.lobby.signal is None
    assert all(member.ready.ready for member in play.state.members.values())
    play.select(FREE)
    play.do(getting_ready("ann"))
    assert play.state.lobby.signal is None
    play.select()
    play.do(getting_ready("ann"))
    assert play.state.lobby.signal is not None
    play.do(SendInvite(uid("ann"), uid("cid"), NOTICE))
    assert play.state.lobby.signal is not None
    play.do(AcceptInvite(uid("cid")))
    assert play.state.lobby.signal is None


@pytest.mark.parametrize(
    "going",
    [Leave(uid("cid")), Kick(uid("ann"), uid("cid")), TellPresence(uid("cid"), NOW_MS + 2)],
    ids=["leaves", "is kicked", "is away"],
)
def test_who_was_waited_for_goes(going: AnyCommand):
    play = Play("ann", "bob", "cid")
    play.select()
    play.do(getting_ready("ann"))
    play.do(getting_ready("bob"))
    assert play.state.lobby.signal is None
    play.do(going)
    if isinstance(going, TellPresence):
        play.online.discard(uid("cid"))
        play.now_ms += ABSENCE_MS + 2  # each joins a millisecond after the one before
        play.do(MeetDeadlines())
    signal = play.state.lobby.signal
    assert signal is not None
    assert signal.member_ids == (uid("ann"), uid("bob"))
    # Those who have started do not start again because one of them leaves.
    play.do(Leave(uid("bob")))
    assert play.state.lobby.signal is None


def test_who_goes_from_what_has_no_rounds_starts_nothing():
    play = Play("ann", "bob")
    play.select(FREE)
    play.do(getting_ready("ann"))
    play.do(Leave(uid("bob")))
    assert play.state.lobby.signal is None


def test_what_ready_needs():
    play = Play("ann")
    assert play.refusal(getting_ready("ann", hash_="0" * 64)) == "REVISION_CONFLICT"
    play.select()
    assert play.refusal(getting_ready("ann", prepared=False)) == "NOT_PROFILE_PREPARED"
    assert play.refusal(getting_ready("ann", hash_="0" * 64)) == "REVISION_CONFLICT"
    assert play.refusal(getting_ready("ann", hash_=play.state.lobby.requirement_hash)) is None
    assert play.refusal(getting_ready("ann", is_ready=False, prepared=False, hash_="0" * 64)) is None


def test_who_is_away_too_long_is_removed():
    play = Play("ann", "bob", "cid")
    revision = play.state.revision
    play.do(TellPresence(uid("ann"), NOW_MS))
    play.do(TellPresence(uid("bob"), NOW_MS + 1000))
    assert play.state.revision == revision
    assert due(play.state, since_ms=0) == NOW_MS + ABSENCE_MS
    play.online = {uid("bob"), uid("cid")}
    play.now_ms += ABSENCE_MS
    play.do(MeetDeadlines())
    assert list(play.state.members) == [uid("bob"), uid("cid")]
    assert play.state.leader_id == uid("bob")
    play.now_ms += 1000
    play.do(MeetDeadlines())  # he has come back, and nobody has said so
    assert due(play.state, since_ms=0) is None
    play.do(TellPresence(uid("bob"), 5))
    play.do(TellPresence(uid("cid"), 5))
    play.online = set()
    # Nobody could come back while the service was down.
    assert due(play.state, since_ms=play.now_ms) == play.now_ms + ABSENCE_MS
    play.do(MeetDeadlines())
    assert play.state.ended


def test_absence_counts_from_joining():
    play = Play("ann", "bob")
    play.online = {uid("ann")}
    play.do(TellPresence(uid("bob"), NOW_MS - 2 * ABSENCE_MS))  # when he has come, he was long gone
    overdue_ms = play.state.members[uid("bob")].joined_at_ms + ABSENCE_MS
    assert due(play.state, since_ms=0) == overdue_ms
    play.do(MeetDeadlines())
    assert list(play.state.members) == [uid("ann"), uid("bob")]
    play.now_ms = overdue_ms
    play.do(MeetDeadlines())
    assert list(play.state.members) == [uid("ann")]


def test_who_has_just_gone_offline_stays_when_something_else_is_due():
    play = Play("ann", "bob", "cid")
    play.online = {uid("ann")}
    play.do(TellPresence(uid("bob"), NOW_MS + 1))
    play.now_ms += ABSENCE_MS + 1
    play.do(TellPresence(uid("cid"), play.now_ms - 1))
    play.do(MeetDeadlines())
    assert list(play.state.members) == [uid("ann"), uid("cid")]


def test_names_and_strangers():
    play = Play("ann")
    play.do(TellRename(uid("ann"), "Anna"))
    assert play.state.members[uid("ann")].name == "Anna"
    for command in (TellRename(uid("ann"), "Anna"), TellRename(uid("eve"), "E"), TellPresence(uid("eve"), 1)):
        assert play.do(command) == ()
