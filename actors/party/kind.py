"""The party as an owner: the record that the kernel runs, and the table of who decides on what.

No client watches a party itself: users see it in a view of their own, which follows them from party to party.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import get_args

from actors.kernel.facets import Deadlines, Followers, Unjournaled
from actors.kernel.kind import Event, Kind, View
from actors.notifications.view import NAME as NOTIFICATIONS
from actors.party import commands, events, loading, rules_invites, rules_lobby, rules_members
from actors.party.apply import apply
from actors.party.commands import AnyCommand, MeetDeadlines
from actors.party.events import AnyEvent
from actors.party.lookups import LOOKUPS
from actors.party.memberships import Memberships
from actors.party.own_view import NAME as OWN_PARTY
from actors.party.own_view import OwnParty, OwnPartyRules
from actors.party.persisting import persist, plan
from actors.party.render_cache import RenderCache
from actors.party.rules_members import IsOnline
from actors.party.state import State
from persistence.party import rows

NAME = rows.KIND
"""The kind's name: in the journal and in statistics."""


@dataclass(frozen=True, slots=True)
class PartyKinds:
    """The kind and the view that the kernel runs for parties.

    Args:
        party: the kind of a party.
        own: the view of a user's own party and invites.
        render_cache: makes JSON of parties, for requests too.
        listeners: functions that are called for every committed event of every party that lives here; they must neither
            wait nor raise.
    """

    party: Kind[State, AnyCommand]
    own: View[OwnParty]
    render_cache: RenderCache
    listeners: list[Callable[[State, AnyEvent], None]] = field(default_factory=list)


def party_kinds(
    is_online: IsOnline,
    render_cache: RenderCache,
    now_ms: Callable[[], int],
    memberships: Memberships,
) -> PartyKinds:
    """Make the kind and the view of parties.

    Args:
        is_online: whether the user with an id is online at this moment.
        render_cache: makes JSON of parties.
        now_ms: returns epoch milliseconds; the first call gives the time of the service's start.
        memberships: the memory of who is in which party, which follows the events of parties from now on.
    """
    since_ms = now_ms()
    listeners: list[Callable[[State, AnyEvent], None]] = []

    def happened(state: State, event: AnyEvent) -> None:
        for listener in listeners:
            listener(state, event)

    party: Kind[State, AnyCommand] = Kind(
        name=NAME,
        version=loading.VERSION,
        events=AnyEvent,
        load=loading.load,
        dump=loading.dump,
        restore=loading.restore,
        decide=partial(decide, is_online, since_ms),
        apply=apply,
        answer=_answer,
        persist=persist,
        plan=plan,
        summary=loading.summary_of,
        lookups=LOOKUPS,
        deadlines=Deadlines(due=partial(rules_members.due, since_ms=since_ms), expire=_expire),
        followers=Followers(
            touches=touches,
            news=memberships.news(),
            on_committed=happened,
            on_outcome_unknown=memberships.distrust,
        ),
        unjournaled=Unjournaled(refresh=loading.refresh),
        crossing=dict.fromkeys(
            (
                *get_args(commands.Told),
                commands.Expect,
                commands.ExpectNoMore,
                commands.Leave,
                commands.MeetDeadlines,
            )
        ),
    )
    return PartyKinds(party, OwnPartyRules(party, render_cache, now_ms).view(), render_cache, listeners)


def touches(state: State, event: AnyEvent) -> Iterable[tuple[str, Collection[str]]]:
    """The views that an event changes: of users who see something of it in their own party, or in their
    notifications."""
    yield OWN_PARTY, concerned(state, event)
    if isinstance(event, events.InviteSent):
        yield NOTIFICATIONS, (event.invite.target_id,)


def decide(  # noqa: PLR0911, PLR0912 - a table
    is_online: IsOnline, since_ms: int, state: State, command: AnyCommand, now_ms: int
) -> Sequence[AnyEvent]:
    """The events of a command, by the rule for its type. Raises `Refused`; the state is never changed here.

    Args:
        is_online: whether the user with an id is online, which decides who leads next.
        since_ms: the service's start, epoch milliseconds.
        now_ms: the time of the turn, epoch milliseconds.
    """
    match command:
        case commands.SendInvite():
            return rules_invites.send(state, command, now_ms)
        case commands.AcceptInvite():
            return rules_invites.accept(state, command, now_ms)
        case commands.DeclineInvite():
            return rules_invites.decline(state, command, now_ms)
        case commands.RevokeInvite():
            return rules_invites.revoke(state, command, now_ms)
        case commands.Expect():
            return rules_invites.expect(state, command, now_ms)
        case commands.ExpectNoMore():
            return rules_invites.expect_no_more(state, command)
        case commands.Leave():
            return rules_members.leave(state, command, now_ms, is_online)
        case commands.Disband():
            return rules_members.disband(state, command, now_ms)
        case commands.Kick():
            return rules_members.kick(state, command, now_ms, is_online)
        case commands.HandOver():
            return rules_members.hand_over(state, command, now_ms)
        case commands.SetSelectors():
            return rules_lobby.set_selectors(state, command, now_ms)
        case commands.Select():
            return rules_lobby.select(state, command, now_ms)
        case commands.SetReady():
            return rules_lobby.set_ready(state, command, now_ms)
        case commands.MeetDeadlines():
            return rules_members.meet_deadlines(state, command, now_ms, is_online, since_ms=since_ms)
        case _:
            return _take(is_online, state, command, now_ms)


def _take(is_online: IsOnline, state: State, command: commands.Told, now_ms: int) -> Sequence[AnyEvent]:
    """The events of a report that something has happened elsewhere."""
    match command:
        case commands.TellPresence():
            return rules_members.take_presence(state, command)
        case commands.TellRename():
            return rules_members.take_rename(state, command)
        case commands.TellErased():
            return rules_members.take_erased(state, command, now_ms, is_online)
        case commands.TellBlock():
            return rules_invites.take_block(state, command, now_ms)


def concerned(state: State, event: AnyEvent) -> Collection[str]:  # noqa: PLR0911 - a table
    """The ids of users whose view shows something of this event: members and invitees, both before and after it."""
    match event:
        case events.InviteSent(invite=invite):
            return {*state.members, invite.target_id}
        case events.InvitesGone(target_ids=gone) | events.InvitesLapsed(target_ids=gone):
            return {*state.members, *gone}
        case events.MemberJoined(member=member):
            return {*state.members, member.user_id}
        case events.MembersLeft(user_ids=gone, leader_id=None):
            return {*gone, *state.invites}
        case events.MembersLeft(user_ids=gone):
            return {*state.members, *gone}
        case events.PresenceChanged() | events.MemberExpected() | events.NotExpected():
            return ()
        case events.UserErased() | events.MemberRenamed():
            return {*state.members, *state.invites}
        case _:
            return state.members.keys()


def _answer(state: State, _command: AnyCommand, _happened: Sequence[Event]) -> State:
    return state


def _expire(_state: State, _now_ms: int) -> AnyCommand:
    return MeetDeadlines()
