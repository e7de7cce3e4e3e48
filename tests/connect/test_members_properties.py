"""Whatever people do with members and invites of a server, in any order, what must hold of them holds."""

from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace

from actors.connect import commands
from actors.connect.capabilities import CAPABILITIES, OF_ROLE, capabilities_of, may_grant
from actors.connect.commands import AnyCommand
from actors.connect.rules_invites import INVITE_MS, status_at
from actors.connect.state import State
from actors.errors import Refused
from persistence.connect.rows import MemberRow
from tests.connect.membership import (
    NOW,
    OWNER,
    SERVER,
    invite_row,
    known,
    member_row,
    offering,
    putting,
    server_with,
    state_after,
)

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
        member = member_row("x", "admin" if role == "owner" else role, extra)
        self.state = replace(SERVER, members={**SERVER.members, "x": member})
        self.most = capabilities_of(self.state, "x")
        # Who holds what they do not is beyond them.
        self.untouched = {
            id: one for id, one in SERVER.members.items() if not capabilities_of(SERVER, id) <= self.most
        }

    def _do(self, command: AnyCommand, about: str) -> None:
        try:
            self.state = state_after(known(self.state, about), command, self.now_ms)
        except Refused:
            return

    @rule(actor=st.sampled_from(CHOSEN), user=st.sampled_from(CHOSEN + OTHERS), grant=_grants)
    def put(self, actor: str, user: str, grant: tuple[str, frozenset[str]]) -> None:
        self._do(putting(actor, user, grant[0], *grant[1]), user)

    @rule(actor=st.sampled_from(CHOSEN), user=st.sampled_from(CHOSEN + OTHERS))
    def remove(self, actor: str, user: str) -> None:
        self._do(commands.RemoveMember(actor, user), user)

    @rule(actor=st.sampled_from(CHOSEN), user=st.sampled_from(CHOSEN), grant=_grants)
    def invite(self, actor: str, user: str, grant: tuple[str, frozenset[str]]) -> None:
        self.number += 1
        self._do(replace(offering(actor, user, grant[0], *grant[1]), invite_id=str(self.number)), user)

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
        helper = member_row("b", "operator", ("server.members.write",))
        open_ = (invite_row(id="0", inviter_id="a", invitee_user_id="c"),)
        self.state = server_with(member_row("a", "admin"), helper)
        self.state = replace(self.state, invites={one.id: one for one in open_})
        self.now_ms = NOW
        self.number = 0

    def _do(self, command: AnyCommand, about: str) -> None:
        before = self.state
        try:
            self.state = state_after(known(self.state, about), command, self.now_ms)
        except Refused:
            self.state = before

    @rule(actor=st.sampled_from(EVERYBODY), user=st.sampled_from(EVERYBODY), grant=_grants)
    def put(self, actor: str, user: str, grant: tuple[str, frozenset[str]]) -> None:
        self._do(putting(actor, user, grant[0], *grant[1]), user)

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
        self._do(replace(offering(actor, user, grant[0], *grant[1]), invite_id=str(self.number)), user)

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
