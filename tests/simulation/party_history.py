"""What was really committed of parties, and what of it must hold whenever a client is told that its request is done."""

from collections import Counter

from actors.party import events
from actors.party.state import State
from persistence.party.rows import InviteRow
from tests.simulation.attendance import Attendance
from tests.simulation.party_rows import KIND, Rows
from tests.simulation.requests import Request
from tests.simulation.tables import Landed, Tables

_DEPARTURES = {"leave", "kick", "disband"}

Fact = tuple[str, str, str]
"""(what, party id, user id)."""


class PartyHistory:
    """Follows the turns of parties that land.

    Args:
        tables: where they land.
        attendance: who was online when.

    Attributes:
        invited: how often each invite was committed, by the id of its notification.
        wrong: what must not be.
    """

    def __init__(self, tables: Tables, attendance: Attendance) -> None:
        self._tables = tables
        self._attendance = attendance
        self._followed = 0
        self._departures: list[tuple[Fact, Request]] = []  # who may be gone by somebody's wish
        self._sudden: list[tuple[Fact, str]] = []  # who has gone, and not because they were away
        self._newest: dict[Fact, int] = {}  # {fact: the number of the newest turn that has made it so}
        self.invited: Counter[str] = Counter()
        self.wrong: list[str] = []

    def sent(self, request: Request) -> None:
        """A request is sent for the first time."""
        request.after = len(self._tables.landed)
        if request.what in _DEPARTURES:
            gone = {"leave": request.user_id, "kick": request.about}.get(request.what, "")
            self._departures.append((("left", request.id, gone), request))

    def acknowledged(self, request: Request) -> None:
        """A client is told that its request is done."""
        self.follow()
        kept: Rows | None = self._tables.rows.get((KIND, request.id))
        members = {} if kept is None else kept.members
        invites: dict[str, InviteRow] = {} if kept is None else kept.invites
        about = request.about
        match request.what:
            case "accept":
                self._expect(request, request.user_id in members, ("joined", request.id, request.user_id))
            case "leave":
                who = request.id, request.user_id
                # Who is no member has left, and may join in the same turn.
                self._expect(request, request.user_id not in members, ("left", *who), ("joined", *who))
            case "kick":
                self._expect(request, about not in members, ("left", request.id, about))
            case "disband":
                self._expect(request, kept is None, ("ended", request.id, ""))
            case "decline":
                gone = request.user_id not in invites
                self._expect(request, gone, ("uninvited", request.id, request.user_id))
            case "revoke":
                self._expect(request, about not in invites, ("uninvited", request.id, about))
            case "select":
                self._expect(request, False, ("selected", request.id, ""))
            case "invite":
                stands = about in invites or about in members
                # One that stood already says nothing new, and may be declined in the same turn.
                self._expect(
                    request, stands, ("invited", request.id, about), ("uninvited", request.id, about)
                )

    def follow(self) -> None:
        """Take in what has landed since the last time."""
        landed = self._tables.landed
        for number, one in enumerate(landed[self._followed :], self._followed):
            if one.turn.kind == KIND:
                self._take(number, one)
        self._followed = len(landed)

    def unwished(self) -> list[str]:
        """Who was taken out although they were not away, and nobody asked for it with success."""
        wished = {fact for fact, request in self._departures if request.fate in ("done", "unknown")}
        return [why for fact, why in self._sudden if not {fact, (*fact[:2], "")} & wished]

    def _expect(self, request: Request, holds: bool, *facts: Fact) -> None:
        """It holds, or one of the facts says that it held after the request was sent: what has changed since is
        somebody else's doing.
        """
        if not holds and all(self._newest.get(fact, -1) < request.after for fact in facts):
            self.wrong.append(
                f"request {request.number} ({request.what}) is acknowledged, and is not in the rows"
            )

    def _take(self, number: int, landed: Landed) -> None:
        id = landed.turn.id
        for event in landed.turn.events:
            match event:
                case events.InviteSent(invite=invite):
                    self.invited[event.notice_id] += 1
                    self._newest["invited", id, invite.target_id] = number
                case events.InvitesGone(target_ids=gone):
                    self._newest |= {("uninvited", id, target_id): number for target_id in gone}
                case events.MemberJoined(member=member):
                    self._newest["joined", id, member.user_id] = number
                    self._newest["uninvited", id, member.user_id] = number
                case events.MembersLeft():
                    self._left(number, landed, event)
                case events.SelectionChanged():
                    self._newest["selected", id, ""] = number

    def _left(self, number: int, landed: Landed, event: events.MembersLeft) -> None:
        id = landed.turn.id
        for user_id in event.user_ids:
            self._newest["left", id, user_id] = number
            if not self._attendance.overdue(user_id, event.at_ms, landed.fence):
                why = f"{id[-2:]}: {user_id[:4]} is taken out at {event.at_ms}, and was not away for so long"
                self._sudden.append((("left", id, user_id), why))
        if event.leader_id is None:
            self._newest["ended", id, ""] = number


def unruly(state: State) -> list[str]:
    """What no party may be like."""
    id, wrong = state.id[-2:], []
    if not state.ended and state.leader_id not in state.members:
        wrong.append(f"{id}: its leader is no member")
    if not set(state.lobby.selector_ids) <= state.members.keys() - {state.leader_id}:
        wrong.append(f"{id}: who is no member may select")
    if state.members.keys() & state.invites.keys():
        wrong.append(f"{id}: a member is invited")
    return wrong
