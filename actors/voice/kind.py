"""The voice channel as an owner: the record that the kernel runs. Users see it in a view of their own."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import get_args

from actors.kernel.facets import Followers, Unjournaled
from actors.kernel.kind import Event, Kind, View
from actors.party.memberships import Memberships
from actors.voice import loading, rules
from actors.voice.apply import apply
from actors.voice.attendance import Attendance
from actors.voice.commands import AnyCommand
from actors.voice.events import AnyEvent
from actors.voice.lookups import LOOKUPS
from actors.voice.own_view import NAME as OWN_VOICE
from actors.voice.own_view import OwnVoice, OwnVoiceRules, concerned
from actors.voice.persisting import persist
from actors.voice.public import PlaceOf
from actors.voice.rules import IsMember
from actors.voice.state import State
from persistence.voice import channels


@dataclass(frozen=True, slots=True)
class VoiceKinds:
    """The kind and the view that the kernel runs for voice.

    Args:
        channel: the kind of a voice channel.
        own: the view of a user's own voice.
        in_doubt: functions that are called, synchronously, with the id of a channel whose last turn may or may not have
            been committed.
        is_member: whether a user is in a party.
        place_of: looks up a voice node.
    """

    channel: Kind[State, AnyCommand]
    own: View[OwnVoice]
    in_doubt: list[Callable[[str], None]]
    is_member: IsMember
    place_of: PlaceOf


def voice_kinds(attendance: Attendance, memberships: Memberships, place_of: PlaceOf) -> VoiceKinds:
    """Make the kind and the view of voice.

    Args:
        attendance: the memory of all channels, which follows their events from now on.
        memberships: knows who is in which party.
        place_of: looks up a voice node.
    """
    in_doubt: list[Callable[[str], None]] = []

    def distrust(channel_id: str) -> None:
        for listener in in_doubt:
            listener(channel_id)

    def is_member(user_id: str, party_id: str) -> bool:
        return memberships.of(user_id) == party_id

    def touches(state: State, event: AnyEvent) -> Iterable[tuple[str, Collection[str]]]:
        members = () if state.party_id is None else memberships.members(state.party_id)
        gone = getattr(event, "sessions", ())
        yield OWN_VOICE, {*concerned(state, members), *gone}

    channel: Kind[State, AnyCommand] = Kind(
        name=channels.KIND,
        version=loading.VERSION,
        events=AnyEvent,
        load=loading.load,
        dump=loading.dump,
        restore=loading.restore,
        decide=partial(rules.decide, is_member),
        apply=apply,
        answer=_answer,
        persist=persist,
        summary=loading.summary_of,
        lookups=LOOKUPS,
        followers=Followers(
            touches=touches,
            on_committed=attendance.follow,
            on_outcome_unknown=distrust,
        ),
        unjournaled=Unjournaled(refresh=loading.refresh),
        crossing=dict.fromkeys(get_args(AnyCommand), State),
    )
    return VoiceKinds(
        channel, OwnVoiceRules(attendance, memberships, place_of).view(), in_doubt, is_member, place_of
    )


def _answer(state: State, _command: AnyCommand, _happened: Sequence[Event]) -> State:
    return state
