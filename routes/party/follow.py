"""Passes changes of presence, names and visibility on to parties, and changes of membership to friends."""

from collections.abc import Callable
from functools import partial

from actors.kernel.mailbox import Answer
from actors.party.absence import LOOK_SECONDS, Absences
from actors.party.commands import TellPresence, TellRename
from actors.party.own_view import FACES
from persistence.party import rows
from routes.friends.parts import FRIENDS_LIVE
from routes.jobs import BackgroundTask, Job, ticking
from routes.party.doubts import follow_doubts
from routes.party.memberships import MEMBERSHIPS
from routes.party.parts import DAYS_TOGETHER, PARTY_KINDS
from routes.party.reactions import follow_unknown_outcomes
from routes.service import Service
from routes.users.parts import PRESENCE
from routes.users.renaming import following_renames


def follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    """Subscribe to these changes; returns the task that passes names on, and the jobs for members who are away and for
    days that friends spend together."""
    system, parties, memberships = service.system, service.of(PARTY_KINDS), service.of(MEMBERSHIPS)

    def send(party_id: str, command: TellPresence, answer: Callable[[Answer], None]) -> None:
        system.post(parties.party, party_id, command, answer)

    def met(user_id: str, online: bool) -> None:
        absences.heard(user_id, online)
        party_id = memberships.of(user_id)
        if party_id is not None:
            hides = service.of(FRIENDS_LIVE).hides
            viewers = [id for id in memberships.members(party_id) if not hides(user_id, id)]
            system.touched(parties.own.name, viewers, FACES)

    def appeared(viewer_id: str, user_id: str, _to_friends: bool) -> None:
        # Only members are shown as online or offline; an invite says nothing of it. A frame that is equal to the one
        # before it would tell the viewer that somebody, whom they may not even know, has blocked them.
        party_id = memberships.of(viewer_id)
        if party_id is not None and party_id == memberships.of(user_id):
            system.changed(parties.own, viewer_id, FACES)

    absences = Absences(service.of(PRESENCE), memberships, send, service.clock.now_ms)
    service.of(PRESENCE).on_change(met)
    service.of(FRIENDS_LIVE).on_visibility_change(appeared)
    follow_unknown_outcomes(service)
    follow_doubts(service)
    memberships.on_change(lambda user_id, _party_id: service.of(FRIENDS_LIVE).party_changed(user_id))
    return (
        following_renames(service, "renamed members of parties", partial(_pass_on, service)),
        ticking("members who are away", LOOK_SECONDS, absences.look),
        ticking("days in days_together", 1, service.of(DAYS_TOGETHER).look),
    )


async def _pass_on(service: Service, user_id: str, name: str) -> None:
    """Tell a user's name to the parties that show them; viewers of a party that is not live read it again."""
    system, parties = service.system, service.of(PARTY_KINDS)
    for party_id, viewers in (await service.database.read(rows.showing, user_id)).items():
        system.tell(parties.party, party_id, TellRename(user_id, name))
        system.touched(parties.own.name, viewers, party_id)
