"""What parties must hear from elsewhere, and who must hear from parties."""

from typing import TYPE_CHECKING

from actors.kernel.clock import Clock
from actors.kernel.directory import System
from actors.kernel.mailbox import Answer
from actors.party.attendance import Attendance
from actors.party.commands import TellPresence, TellRename
from actors.party.memberships import Memberships
from actors.party.own import FACES
from actors.party.party import PartyKinds
from actors.presence import Presence

if TYPE_CHECKING:
    from routes.service import Service


def attendance_of(
    system: System, parties: PartyKinds, presence: Presence, memberships: Memberships, clock: Clock
) -> Attendance:
    """What tells parties who is away; a party that sleeps is woken for it."""

    def send(party_id: str, command: TellPresence) -> None:
        system.post(parties.party, party_id, command, _unheard)

    return Attendance(presence, memberships, send, clock.now_ms)


def follow_parties(service: "Service") -> None:
    """Pass on presence, names, visibility and memberships from now on."""
    system, parties, memberships = service.system, service.parties, service.memberships

    def met(user_id: str, online: bool) -> None:
        service.attendance.heard(user_id, online)
        party_id = memberships.of(user_id)
        if party_id is not None:
            hides = service.friends.hides
            viewers = [id for id in memberships.members(party_id) if not hides(user_id, id)]
            system.touched(parties.own, viewers, FACES)

    def renamed(user_id: str, name: str) -> None:
        party_id = memberships.of(user_id)
        if party_id is not None and not system.tell(parties.party, party_id, TellRename(user_id, name)):
            system.touched(parties.own, memberships.members(party_id), party_id)

    service.presence.on_change(met)
    service.users.on_rename(renamed)
    service.friends.on_visibility_change(lambda viewer_id: system.changed(parties.own, viewer_id, FACES))
    memberships.on_change(lambda user_id, _party_id: service.friends.party_changed(user_id))
    memberships.on_change(service.shared_days.moved)


def _unheard(_answer: Answer) -> None:
    """Nobody waits for what becomes of it."""
