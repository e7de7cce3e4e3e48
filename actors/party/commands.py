"""What can be asked of a party; the rules (`rules_*.py`) decide on it.

`actor_id` is who acts, whether they ask themselves or a game server does it for them; membership is decided in the
turn, whatever the edge has checked. Ids are made by the caller, time is the turn's.
"""

from typing import TypeAlias

import msgspec

from actors.party.selection import Selection


class Command(msgspec.Struct, frozen=True):
    """Base of all commands to a party."""


class SendInvite(Command, frozen=True):
    """A member invites a user.

    Args:
        notice_id: a fresh object id, for the notification.
    """

    actor_id: str
    target_id: str
    notice_id: str


class AcceptInvite(Command, frozen=True):
    """Join by an invite. Refused while the invitee is a member of another party."""

    actor_id: str


class DeclineInvite(Command, frozen=True):
    """Decline an invite, as the invitee."""

    actor_id: str


class RevokeInvite(Command, frozen=True):
    """Withdraw an invite, as its sender or as the leader."""

    actor_id: str
    target_id: str


class Expect(Command, frozen=True):
    """Have the party wait for an invitee who is about to leave another party for it, so that it does not end
    meanwhile."""

    actor_id: str


class ExpectNoMore(Command, frozen=True):
    """Have the party wait no longer for an invitee, who stays in their own party."""

    actor_id: str


class Leave(Command, frozen=True):
    """Leave the party. Succeeds without an event for a user who is no member.

    Args:
        for_another: whether they leave in order to join another party, which expects them. The last member is refused
            while somebody is expected in this party.
    """

    actor_id: str
    for_another: bool = False


class Disband(Command, frozen=True):
    """The leader ends the party."""

    actor_id: str


class Kick(Command, frozen=True):
    """The leader takes a member out."""

    actor_id: str
    target_id: str


class HandOver(Command, frozen=True):
    """The leader makes another member the leader."""

    actor_id: str
    target_id: str


class SetSelectors(Command, frozen=True):
    """The leader says who may select beside them."""

    actor_id: str
    selector_ids: tuple[str, ...]


class Select(Command, frozen=True):
    """The leader or a selector chooses what to play."""

    actor_id: str
    selection: Selection


class SetReady(Command, frozen=True):
    """A member says whether they are ready.

    Args:
        requirement_hash: the hash of the requirement that they have prepared for; None to leave it unsaid.
    """

    actor_id: str
    ready: bool
    profile_prepared: bool
    profile_id: str | None
    temporary_profile: bool
    requirement_hash: str | None


class TellPresence(Command, frozen=True):
    """A member has come online, or has been offline since the given time."""

    user_id: str
    offline_since_ms: int | None


class TellRename(Command, frozen=True):
    """A member, an invitee or an inviter has another name now."""

    user_id: str
    name: str


class TellErased(Command, frozen=True):
    """A user was erased: replace their name by `deleted` wherever the party holds it, and let them out of it."""

    user_id: str


class TellBlock(Command, frozen=True):
    """One of two users has blocked the other: take back pending invites between the two, if the block still stands."""

    one_id: str
    other_id: str


class MeetDeadlines(Command, frozen=True):
    """A deadline has passed: remove expired invites, and members who have been offline for too long."""


Told: TypeAlias = TellPresence | TellRename | TellErased | TellBlock
"""Notifications of changes elsewhere; no caller waits for an answer."""

AnyCommand: TypeAlias = (
    SendInvite
    | AcceptInvite
    | DeclineInvite
    | RevokeInvite
    | Expect
    | ExpectNoMore
    | Leave
    | Disband
    | Kick
    | HandOver
    | SetSelectors
    | Select
    | SetReady
    | MeetDeadlines
    | Told
)
"""Any command of a party."""
