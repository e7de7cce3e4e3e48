"""The rows of a batch of turns: who came and went, and who was invited. All else is in the heads' summaries."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from actors.party import events
from actors.party.events import AnyEvent
from actors.party.state import Invite
from actors.time import iso
from persistence.connection import Connection
from persistence.errors import LimitReached
from persistence.journal.turn import Statement, Turn
from persistence.notifications.notifications import NewNotification
from persistence.party import rows
from persistence.party.rows import InviteRow, MemberRow


async def persist(conn: Connection, turns: Sequence[Turn]) -> Sequence[NewNotification]:
    """Write the rows of all turns, inside the writer's transaction; returns the notifications of who was invited.

    Raises: what `Changes.write` raises.
    """
    changes = Changes()
    for turn in turns:
        for event in turn.events:
            changes.take(turn.id, event)
    await changes.write(conn)
    return changes.notices


def plan(turns: Sequence[Turn]) -> list[Statement] | None:
    """No statements where no turn changes memberships or invites, since its head and journal say all; else None, and
    `persist` is called."""
    if any(isinstance(event, _WITH_ROWS) for turn in turns for event in turn.events):
        return None
    return []


_WITH_ROWS = (
    events.InviteSent,
    events.InvitesGone,
    events.InvitesLapsed,
    events.MemberJoined,
    events.MembersLeft,
    events.UserErased,
)


class Changes:
    """The outcome of many turns, by table."""

    def __init__(self) -> None:
        self.joined: dict[tuple[str, str], MemberRow] = {}  # {(party id, user id): …}
        self.left: dict[tuple[str, str], None] = {}
        self.invites: dict[tuple[str, str], InviteRow | None] = {}  # {(party id, target id): None = gone}
        self.lapsed: dict[tuple[str, str], None] = {}  # (party id, target id)
        self.ended: list[str] = []
        self.erased: Counter[str] = Counter()  # {party id: how many were}
        self.notices: list[NewNotification] = []

    def take(self, party_id: str, event: AnyEvent) -> None:
        """Add one event to the changes; call it in the order of the events."""
        match event:
            case events.InviteSent(invite=invite):
                for target_id in event.dropped:
                    self.invites[party_id, target_id] = None
                self.invites[party_id, invite.target_id] = _row(invite)
                self.lapsed.pop((party_id, invite.target_id), None)
                self.notices.append(_notice(event))
            case events.InvitesGone():
                for target_id in event.target_ids:
                    self.invites[party_id, target_id] = None
            case events.InvitesLapsed():
                self.lapsed.update(dict.fromkeys((party_id, target_id) for target_id in event.target_ids))
            case events.MemberJoined(member=member):
                key = party_id, member.user_id
                self.invites[key] = None
                self.joined[key] = MemberRow(party_id, member.user_id, member.name, member.joined_at_ms)
            case events.MembersLeft():
                for user_id in event.user_ids:
                    self.joined.pop((party_id, user_id), None)
                    self.left[party_id, user_id] = None
                if event.leader_id is None:
                    self.ended.append(party_id)
            case events.UserErased():
                self.erased[party_id] += 1

    async def write(self, conn: Connection) -> None:
        """Write all changes but the notices; tables without changes are not touched. Leaving is written before joining,
        so that a user may do both in one batch.

        Raises:
            LimitReached: somebody who joins has joined another party since their turn was decided.
        """
        if self.left:
            await rows.leave(conn, list(self.left))
        gone = [key for key, row in self.invites.items() if row is None]
        if gone:
            await rows.withdraw(conn, gone)
        if self.joined and not await rows.join(conn, list(self.joined.values())):
            raise LimitReached("a user is in one party at most", 1)
        sent = [row for row in self.invites.values() if row is not None]
        if sent:
            await rows.invite(conn, sent)
        if self.lapsed:
            await rows.lapse(conn, list(self.lapsed))
        if self.erased:
            await rows.count_erased(conn, self.erased)
        if self.ended:
            await rows.end(conn, self.ended)


def _row(invite: Invite) -> InviteRow:
    return InviteRow(
        party_id=invite.party_id,
        target_id=invite.target_id,
        target_name=invite.target_name,
        sender_id=invite.sender_id,
        sender_name=invite.sender_name,
        created_at_ms=invite.created_at_ms,
        expires_at_ms=invite.expires_at_ms,
        lapsed=invite.lapsed,
    )


class InviteNotice(msgspec.Struct, frozen=True, rename="camel"):
    """The data of a `party_invite` notification."""

    party_id: str
    sender_name: str
    expires_at: str


def _notice(event: events.InviteSent) -> NewNotification:
    invite = event.invite
    data = InviteNotice(invite.party_id, invite.sender_name, iso(invite.expires_at_ms))
    return NewNotification(
        id=event.notice_id,
        user_id=invite.target_id,
        kind="party_invite",
        actor_id=invite.sender_id,
        data=msgspec.json.encode(data),
        created_at_ms=invite.created_at_ms,
    )
