"""The rules of belonging to a server: their tables, and that nobody ever comes to more than they were given."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace

from actors.connect import commands
from actors.connect.capabilities import CAPABILITIES, OF_ROLE, capabilities_of, may_grant
from actors.connect.commands import AnyCommand
from actors.connect.rules import apply
from actors.connect.rules import decide as decide_with
from actors.connect.rules_invites import INVITE_MS, MAX_INVITES, status_at
from actors.connect.rules_members import MAX_MEMBERS
from actors.connect.state import Relation, State
from actors.errors import (
    Blocked,
    Conflict,
    Forbidden,
    Invalid,
    InviteExpired,
    NotFound,
    QuotaExceeded,
    Refused,
)
from actors.vault import Vault
from persistence.connect.rows import InviteRow, MemberRow, ServerRow

NOW = 1_700_000_000_000
decide = partial(decide_with, Vault(bytes(32)))
ROLES = ("owner", "admin", "operator", "viewer", "stranger")
OWNER = "owner"


def _member(user_id: str, role: str, capabilities: Iterable[str] = ()) -> MemberRow:
    return MemberRow(
        server_id="server",
        user_id=user_id,
        name=user_id,
        role=role,
        capabilities=tuple(sorted(capabilities)),
        added_by=OWNER,
        created_at_ms=NOW,
        updated_at_ms=NOW,
    )


def _invite(**more: Any) -> InviteRow:
    return InviteRow(
        **{
            "id": "invite",
            "server_id": "server",
            "inviter_id": "admin",
            "invitee_user_id": "stranger",
            "role": "viewer",
            "capabilities": (),
            "note": "",
            "status": "pending",
            "created_at_ms": NOW,
            "expires_at_ms": NOW + INVITE_MS,
            **more,
        }
    )


def _server(*members: MemberRow, **more: Any) -> State:
    row = ServerRow(
        **{
            "server_id": "server",
            "id": "0" * 24,
            "server_type": "paper",
            "name": "Lobby",
            "owner_id": OWNER,
            "owner_name": OWNER,
            "secret": b"s" * 32,
            "created_at_ms": NOW,
            "updated_at_ms": NOW,
            "last_seen_at_ms": NOW,
            **more,
        }
    )
    return State(row, {}, {}, {}, members={member.user_id: member for member in members})


SERVER = _server(*(_member(role, role) for role in ("admin", "operator", "viewer")))


def _known(state: State, user_id: str, *, friends: bool = False, barred: bool = False) -> State:
    return replace(state, relation=Relation(user_id, user_id, friends, barred))


def _outcome(state: State, command: AnyCommand, now_ms: int = NOW) -> type[Refused] | None:
    try:
        decide(state, command, now_ms)
    except Refused as refused:
        return type(refused)
    return None


def _after(state: State, command: AnyCommand, now_ms: int = NOW) -> State:
    for event in decide(state, command, now_ms):
        state = apply(state, event)
    return state


def _put(actor_id: str, user_id: str, role: str, *capabilities: str) -> commands.PutMember:
    return commands.PutMember(actor_id=actor_id, user_id=user_id, role=role, capabilities=capabilities)


def _offer(actor_id: str, user_id: str, role: str, *capabilities: str) -> commands.CreateInvite:
    return commands.CreateInvite(
        actor_id=actor_id,
        invite_id="new",
        notice_id="notice",
        invitee_user_id=user_id,
        role=role,
        capabilities=capabilities,
        note="",
    )


# {who acts: the roles that they give to a newcomer by PUT; by an invite; whom they let go}
GIVES: dict[str, tuple[str, str, str]] = {
    "owner": ("admin operator viewer", "owner admin operator viewer", "admin operator viewer"),
    "admin": ("admin operator viewer", "admin operator viewer", "admin operator viewer"),
    "operator": ("", "", "operator"),
    "viewer": ("", "", "viewer"),
    "stranger": ("", "", ""),
}


@pytest.mark.parametrize(("actor", "role"), list(product(GIVES, ROLES[:-1])))
def test_who_gives_what(actor: str, role: str):
    by_put, by_invite, _ = GIVES[actor]
    state = _known(SERVER, "newcomer")
    refusal = NotFound if actor == "stranger" else Forbidden
    wanted = None if role in by_put.split() else refusal
    if role == "owner" and actor in {"owner", "admin"}:
        wanted = Invalid
    assert _outcome(state, _put(actor, "newcomer", role)) is wanted
    wanted = None if role in by_invite.split() else refusal
    assert _outcome(state, _offer(actor, "newcomer", role)) is wanted


@pytest.mark.parametrize(("actor", "victim"), list(product(GIVES, ROLES)))
def test_who_lets_whom_go(actor: str, victim: str):
    outcome = _outcome(SERVER, commands.RemoveMember(actor, victim))
    if victim in GIVES[actor][2].split():
        assert outcome is None
    elif actor == "stranger":
        assert outcome is NotFound
    elif actor == victim == "owner":
        assert outcome is Conflict
    elif victim == "stranger" and actor in {"owner", "admin"}:
        assert outcome is NotFound
    else:
        assert outcome is Forbidden


# (invite, the same for: accept by who is invited, revoke by its sender)
INVITES: list[tuple[InviteRow, type[Refused] | None, type[Refused] | None]] = [
    (_invite(), None, None),
    (_invite(status="accepted"), Conflict, Conflict),
    (_invite(status="revoked"), InviteExpired, None),
    (_invite(expires_at_ms=NOW + 1), None, None),
    (_invite(expires_at_ms=NOW), InviteExpired, None),
    (_invite(inviter_id="viewer"), InviteExpired, Forbidden),  # who could not grant it any more
    (_invite(inviter_id="gone"), InviteExpired, NotFound),
    (_invite(role="owner"), InviteExpired, None),  # of an owner who is an admin now
    (_invite(role="owner", inviter_id=OWNER), None, None),
]


@pytest.mark.parametrize(("invite", "accepted", "revoked"), INVITES)
def test_the_life_of_an_invite(
    invite: InviteRow, accepted: type[Refused] | None, revoked: type[Refused] | None
):
    state = _known(replace(SERVER, invites={invite.id: invite}), "stranger")
    assert _outcome(state, commands.AcceptInvite("stranger", "invite")) is accepted
    assert _outcome(state, commands.RevokeInvite(invite.inviter_id, "invite")) is revoked
    declined = _outcome(state, commands.DeclineInvite("stranger", "invite"))
    assert declined is (Conflict if invite.status == "accepted" else None)
    for other in ("owner", "admin", "viewer", "nobody"):
        assert _outcome(state, commands.AcceptInvite(other, "invite")) is NotFound
    barred = _known(state, "stranger", barred=True)
    assert _outcome(barred, commands.AcceptInvite("stranger", "invite")) is (accepted or Blocked)
    assert _outcome(replace(state, invites={}), commands.AcceptInvite("stranger", "invite")) is NotFound
    assert _outcome(replace(state, removed=True), commands.AcceptInvite("stranger", "invite")) is NotFound


def test_bounds():
    full = _known(_server(*(_member(str(number), "viewer") for number in range(MAX_MEMBERS))), "new")
    assert _outcome(full, _put(OWNER, "new", "viewer")) is QuotaExceeded
    assert _outcome(full, _put(OWNER, "7", "operator")) is None
    open_ = {
        str(number): _invite(id=str(number), invitee_user_id=str(number)) for number in range(MAX_INVITES)
    }
    state = _known(replace(SERVER, invites=open_), "new")
    assert _outcome(state, _offer(OWNER, "new", "viewer")) is QuotaExceeded
    state = replace(state, invites={**open_, "7": _invite(id="7", status="revoked")})
    after = _after(state, _offer(OWNER, "new", "viewer"))
    assert len(after.invites) == MAX_INVITES
    assert "7" not in after.invites


def test_a_claim_takes_over_nobody():
    """A server that lost its owner is claimed by somebody else: those who belonged to it do so no more."""
    lost = replace(
        SERVER,
        row=replace(SERVER.row, owner_id=None, access_mode="private"),
        claim_keys={b"k": NOW + 1},
        invites={"invite": _invite()},
    )
    for role in ("admin", "operator", "viewer"):
        assert capabilities_of(lost, role) == frozenset()
    after = _after(lost, commands.Claim("new", b"k", "New"))
    assert (after.row.owner_id, after.row.access_mode, dict(after.members)) == ("new", "public", {})
    assert after.invites["invite"].status == "revoked"


CHOSEN = ("x", "y", "z")
"""Users whom one person controls: a member of some sort, and two accounts more."""

OTHERS = (OWNER, "admin", "operator", "viewer")

_grants = st.tuples(
    st.sampled_from(("owner", "admin", "operator", "viewer")),
    st.frozensets(st.sampled_from(sorted(CAPABILITIES)), max_size=3),
)


class Climbing(RuleBasedStateMachine):
    """Whatever somebody does by all their accounts, they never hold more than at the beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.state = SERVER
        self.now_ms = NOW
        self.number = 0
        self.most: frozenset[str] = frozenset()
        self.untouched: dict[str, MemberRow] = {}

    @initialize(grant=_grants)
    def begin(self, grant: tuple[str, frozenset[str]]) -> None:
        role, extra = grant
        member = _member("x", "admin" if role == "owner" else role, extra)
        self.state = replace(SERVER, members={**SERVER.members, "x": member})
        self.most = capabilities_of(self.state, "x")
        # Who holds what they do not is beyond them.
        self.untouched = {
            id: one for id, one in SERVER.members.items() if not capabilities_of(SERVER, id) <= self.most
        }

    def _do(self, command: AnyCommand, about: str) -> None:
        try:
            self.state = _after(_known(self.state, about), command, self.now_ms)
        except Refused:
            return

    @rule(actor=st.sampled_from(CHOSEN), user=st.sampled_from(CHOSEN + OTHERS), grant=_grants)
    def put(self, actor: str, user: str, grant: tuple[str, frozenset[str]]) -> None:
        self._do(_put(actor, user, grant[0], *grant[1]), user)

    @rule(actor=st.sampled_from(CHOSEN), user=st.sampled_from(CHOSEN + OTHERS))
    def remove(self, actor: str, user: str) -> None:
        self._do(commands.RemoveMember(actor, user), user)

    @rule(actor=st.sampled_from(CHOSEN), user=st.sampled_from(CHOSEN), grant=_grants)
    def invite(self, actor: str, user: str, grant: tuple[str, frozenset[str]]) -> None:
        self.number += 1
        self._do(replace(_offer(actor, user, grant[0], *grant[1]), invite_id=str(self.number)), user)

    @rule(actor=st.sampled_from(CHOSEN), data=st.data())
    def accept(self, actor: str, data: st.DataObject) -> None:
        if self.state.invites:
            id = data.draw(st.sampled_from(sorted(self.state.invites)))
            self._do(commands.AcceptInvite(actor, id), actor)

    @rule(actor=st.sampled_from(CHOSEN))
    def change_policy(self, actor: str) -> None:
        before = self.state.row
        self._do(commands.ChangePolicy(actor, access_mode="private"), actor)
        assert self.state.row == before or "server.members.write" in self.most

    @rule(ms=st.sampled_from([1, INVITE_MS]))
    def time_passes(self, ms: int) -> None:
        self.now_ms += ms

    @invariant()
    def they_have_not_climbed(self) -> None:
        held = frozenset[str]().union(*(capabilities_of(self.state, user) for user in CHOSEN))
        assert held <= self.most
        assert self.state.row.owner_id == OWNER
        assert self.untouched.items() <= dict(self.state.members).items()


TestClimbing: Callable[..., Any] = Climbing.TestCase
TestClimbing.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)  # type: ignore[attr-defined]


EVERYBODY = ("owner", "a", "b", "c", "d")
ENDS = (commands.RevokeInvite, commands.DeclineInvite)


class Belonging(RuleBasedStateMachine):
    """All sorts of users do everything, in any order; what must always hold, holds."""

    def __init__(self) -> None:
        super().__init__()
        helper = _member("b", "operator", ("server.members.write",))
        open_ = (_invite(id="0", inviter_id="a", invitee_user_id="c"),)
        self.state = _server(_member("a", "admin"), helper)
        self.state = replace(self.state, invites={one.id: one for one in open_})
        self.now_ms = NOW
        self.number = 0

    def _do(self, command: AnyCommand, about: str) -> None:
        before = self.state
        try:
            self.state = _after(_known(self.state, about), command, self.now_ms)
        except Refused:
            self.state = before

    @rule(actor=st.sampled_from(EVERYBODY), user=st.sampled_from(EVERYBODY), grant=_grants)
    def put(self, actor: str, user: str, grant: tuple[str, frozenset[str]]) -> None:
        self._do(_put(actor, user, grant[0], *grant[1]), user)

    @rule(actor=st.sampled_from(EVERYBODY), user=st.sampled_from(EVERYBODY))
    def remove(self, actor: str, user: str) -> None:
        self._do(commands.RemoveMember(actor, user), user)

    @rule(user=st.sampled_from(EVERYBODY[1:]))
    def erase(self, user: str) -> None:
        if self.state.row.owner_id != user:  # servers of theirs go before
            self._do(commands.ForgetUser(user), user)
            assert user not in self.state.members

    @rule(actor=st.sampled_from(EVERYBODY), user=st.sampled_from(EVERYBODY), grant=_grants)
    def invite(self, actor: str, user: str, grant: tuple[str, frozenset[str]]) -> None:
        self.number += 1
        self._do(replace(_offer(actor, user, grant[0], *grant[1]), invite_id=str(self.number)), user)

    @rule(data=st.data())
    def accept(self, data: st.DataObject) -> None:
        if self.state.invites:
            invite = self.state.invites[data.draw(st.sampled_from(sorted(self.state.invites)))]
            was_open = status_at(invite, self.now_ms) == "pending"
            before = self.state
            self._do(commands.AcceptInvite(invite.invitee_user_id, invite.id), invite.invitee_user_id)
            if self.state != before:
                assert was_open
                held = capabilities_of(self.state, invite.invitee_user_id)
                assert held == OF_ROLE[invite.role].union(invite.capabilities)

    @rule(actor=st.sampled_from(EVERYBODY), end=st.sampled_from(ENDS), data=st.data())
    def end(self, actor: str, end: type[Any], data: st.DataObject) -> None:
        if self.state.invites:
            self._do(end(actor, data.draw(st.sampled_from(sorted(self.state.invites)))), actor)

    @rule(ms=st.sampled_from([1, INVITE_MS // 4, INVITE_MS]))
    def time_passes(self, ms: int) -> None:
        self.now_ms += ms

    @invariant()
    def one_owner_who_is_no_member(self) -> None:
        assert self.state.row.owner_id in EVERYBODY
        assert self.state.row.owner_id not in self.state.members

    @invariant()
    def open_invites_could_be_sent_now(self) -> None:
        open_ = [one for one in self.state.invites.values() if status_at(one, self.now_ms) == "pending"]
        assert len({one.invitee_user_id for one in open_}) == len(open_)
        for one in open_:
            assert may_grant(self.state, one.inviter_id, one.role, one.capabilities)
            assert one.role == "owner" or one.invitee_user_id not in self.state.members
            assert one.invitee_user_id != self.state.row.owner_id

    @invariant()
    def a_snapshot_holds_all_of_it(self) -> None:
        kept = msgspec.msgpack.encode(self.state)
        assert msgspec.msgpack.decode(kept, type=State) == self.state


TestBelonging: Callable[..., Any] = Belonging.TestCase
TestBelonging.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)  # type: ignore[attr-defined]


def test_no_role_lacks_what_the_one_below_it_has():
    below = frozenset[str]()
    for role in ("viewer", "operator", "admin", "owner"):
        assert below <= OF_ROLE[role], role
        below = OF_ROLE[role]
    assert below == CAPABILITIES
