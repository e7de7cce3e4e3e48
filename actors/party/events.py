"""What has happened to a party. Each journaled event is one revision.

| event            | journaled | in the head | rows              | clears the launch signal |
|------------------|-----------|-------------|-------------------|--------------------------|
| InviteSent       | yes       | yes         | invite, notice    |                          |
| InvitesGone      | yes       | yes         | invites           |                          |
| InvitesLapsed    | yes       | yes         | invites           |                          |
| MemberJoined     | yes       | yes         | member, invite    | yes                      |
| MembersLeft      | yes       | yes         | members, or party | yes, or gives one        |
| LeaderChanged    | yes       | yes         |                   |                          |
| SelectorsChanged | yes       | yes         |                   |                          |
| SelectionChanged | yes       | yes         |                   | yes                      |
| ReadyChanged     | yes       | yes         |                   | when one is not          |
| PresenceChanged  |           | yes         |                   |                          |
| MemberExpected   |           |             |                   |                          |
| NotExpected      |           |             |                   |                          |
| MemberRenamed    |           |             |                   |                          |
| UserErased       |           |             | party             |                          |
"""

from typing import ClassVar, TypeAlias

from actors.kernel.kind import Event
from actors.party.selection import Selection
from actors.party.state import Invite, Member, Ready, Signal


class InviteSent(Event, tag="invite_sent", frozen=True):
    """A user was invited.

    Args:
        dropped: ids of the invitees of lapsed invites, which are forgotten with this event.
        notice_id: the id of the invitee's notification.
    """

    invite: Invite
    dropped: tuple[str, ...]
    notice_id: str
    at_ms: int


class InvitesGone(Event, tag="invites_gone", frozen=True):
    """Invites were declined or taken back, by a user or because of a block."""

    target_ids: tuple[str, ...]
    at_ms: int


class InvitesLapsed(Event, tag="invites_lapsed", frozen=True):
    """Invites have expired."""

    target_ids: tuple[str, ...]
    at_ms: int


class MemberJoined(Event, tag="member_joined", frozen=True):
    """An invitee has joined; the invite is used up."""

    member: Member
    at_ms: int


class MembersLeft(Event, tag="members_left", frozen=True):
    """Members have gone.

    Args:
        leader_id: the member who leads from now on; None when no member is left, and the party has ended.
        signal: the launch signal from now on; None without one.
    """

    user_ids: tuple[str, ...]
    leader_id: str | None
    at_ms: int
    signal: Signal | None = None


class LeaderChanged(Event, tag="leader_changed", frozen=True):
    """Another member is the leader now."""

    leader_id: str
    at_ms: int


class SelectorsChanged(Event, tag="selectors_changed", frozen=True):
    """The members who may select beside the leader have changed."""

    selector_ids: tuple[str, ...]
    at_ms: int


class SelectionChanged(Event, tag="selection_changed", frozen=True):
    """A game was selected; no member is ready for it yet."""

    selection: Selection
    requirement_hash: str
    at_ms: int


class ReadyChanged(Event, tag="ready_changed", frozen=True):
    """A member has said whether they are ready.

    Args:
        signal: the launch signal from now on; None without one.
    """

    user_id: str
    ready: Ready
    signal: Signal | None
    at_ms: int


class PresenceChanged(Event, tag="presence_changed", frozen=True):
    """A member has come online, or has been offline since the given time."""

    journaled: ClassVar[bool] = False

    user_id: str
    offline_since_ms: int | None


class MemberExpected(Event, tag="member_expected", frozen=True):
    """An invitee is about to leave their party for this one."""

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False

    user_id: str
    until_ms: int


class NotExpected(Event, tag="not_expected", frozen=True):
    """An invitee who was about to come does not."""

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False

    user_id: str


class MemberRenamed(Event, tag="member_renamed", frozen=True):
    """A member, an invitee or an inviter has another name now."""

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False

    user_id: str
    name: str


class UserErased(Event, tag="user_erased", frozen=True):
    """A user was erased: as a member, an invitee or an inviter they are called `deleted`, in the past as well."""

    journaled: ClassVar[bool] = False

    user_id: str


AnyEvent: TypeAlias = (
    InviteSent
    | InvitesGone
    | InvitesLapsed
    | MemberJoined
    | MembersLeft
    | LeaderChanged
    | SelectorsChanged
    | SelectionChanged
    | ReadyChanged
    | PresenceChanged
    | MemberExpected
    | NotExpected
    | MemberRenamed
    | UserErased
)
"""Any event of a party."""

Journaled: TypeAlias = (
    InviteSent
    | InvitesGone
    | InvitesLapsed
    | MemberJoined
    | MembersLeft
    | LeaderChanged
    | SelectorsChanged
    | SelectionChanged
    | ReadyChanged
)
"""The events that make a revision of the party."""
