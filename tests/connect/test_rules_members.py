"""The rules of belonging to a server, as tables."""

from itertools import product

import pytest
from msgspec.structs import replace

from actors.connect import commands
from actors.connect.capabilities import CAPABILITIES, OF_ROLE, capabilities_of
from actors.connect.commands import AnyCommand
from actors.connect.rules_invites import MAX_INVITES
from actors.connect.rules_members import MAX_MEMBERS
from actors.connect.state import State
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
from persistence.connect.rows import InviteRow
from tests.connect.membership import (
    NOW,
    OWNER,
    SERVER,
    decide,
    invite_row,
    known,
    member_row,
    offering,
    putting,
    server_with,
    state_after,
)

ROLES = ("owner", "admin", "operator", "viewer", "stranger")


def _outcome(state: State, command: AnyCommand, now_ms: int = NOW) -> type[Refused] | None:
    try:
        decide(state, command, now_ms)
    except Refused as refused:
        return type(refused)
    return None


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
    state = known(SERVER, "newcomer")
    refusal = NotFound if actor == "stranger" else Forbidden
    wanted = None if role in by_put.split() else refusal
    if role == "owner" and actor in {"owner", "admin"}:
        wanted = Invalid
    assert _outcome(state, putting(actor, "newcomer", role)) is wanted
    wanted = None if role in by_invite.split() else refusal
    assert _outcome(state, offering(actor, "newcomer", role)) is wanted


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
    (invite_row(), None, None),
    (invite_row(status="accepted"), Conflict, Conflict),
    (invite_row(status="revoked"), InviteExpired, None),
    (invite_row(expires_at_ms=NOW + 1), None, None),
    (invite_row(expires_at_ms=NOW), InviteExpired, None),
    (invite_row(inviter_id="viewer"), InviteExpired, Forbidden),  # who could not grant it any more
    (invite_row(inviter_id="gone"), InviteExpired, NotFound),
    (invite_row(role="owner"), InviteExpired, None),  # of an owner who is an admin now
    (invite_row(role="owner", inviter_id=OWNER), None, None),
]


@pytest.mark.parametrize(("invite", "accepted", "revoked"), INVITES)
def test_the_life_of_an_invite(
    invite: InviteRow, accepted: type[Refused] | None, revoked: type[Refused] | None
):
    state = known(replace(SERVER, invites={invite.id: invite}), "stranger")
    assert _outcome(state, commands.AcceptInvite("stranger", "invite")) is accepted
    assert _outcome(state, commands.RevokeInvite(invite.inviter_id, "invite")) is revoked
    declined = _outcome(state, commands.DeclineInvite("stranger", "invite"))
    assert declined is (Conflict if invite.status == "accepted" else None)
    for other in ("owner", "admin", "viewer", "nobody"):
        assert _outcome(state, commands.AcceptInvite(other, "invite")) is NotFound
    barred = known(state, "stranger", barred=True)
    assert _outcome(barred, commands.AcceptInvite("stranger", "invite")) is (accepted or Blocked)
    assert _outcome(replace(state, invites={}), commands.AcceptInvite("stranger", "invite")) is NotFound
    assert _outcome(replace(state, removed=True), commands.AcceptInvite("stranger", "invite")) is NotFound


def test_members_and_open_invites_of_a_server_are_bounded():
    full = known(server_with(*(member_row(str(number), "viewer") for number in range(MAX_MEMBERS))), "new")
    assert _outcome(full, putting(OWNER, "new", "viewer")) is QuotaExceeded
    assert _outcome(full, putting(OWNER, "7", "operator")) is None
    open_ = {
        str(number): invite_row(id=str(number), invitee_user_id=str(number)) for number in range(MAX_INVITES)
    }
    state = known(replace(SERVER, invites=open_), "new")
    assert _outcome(state, offering(OWNER, "new", "viewer")) is QuotaExceeded
    state = replace(state, invites={**open_, "7": invite_row(id="7", status="revoked")})
    after = state_after(state, offering(OWNER, "new", "viewer"))
    assert len(after.invites) == MAX_INVITES
    assert "7" not in after.invites


def test_a_claim_takes_over_nobody():
    """A server that lost its owner is claimed by somebody else: those who belonged to it do so no more."""
    lost = replace(
        SERVER,
        row=replace(SERVER.row, owner_id=None, access_mode="private"),
        claim_keys={b"k": NOW + 1},
        invites={"invite": invite_row()},
    )
    for role in ("admin", "operator", "viewer"):
        assert capabilities_of(lost, role) == frozenset()
    after = state_after(lost, commands.Claim("new", b"k", "New"))
    assert (after.row.owner_id, after.row.access_mode, dict(after.members)) == ("new", "public", {})
    assert after.invites["invite"].status == "revoked"


def test_no_role_lacks_what_the_one_below_it_has():
    below = frozenset[str]()
    for role in ("viewer", "operator", "admin", "owner"):
        assert below <= OF_ROLE[role], role
        below = OF_ROLE[role]
    assert below == CAPABILITIES
