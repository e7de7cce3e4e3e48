"""A user's own voice as a view: the channel that concerns them, and their session in it.

All of it comes from memory: channels are there as they were committed, and nodes as they were heard.
"""

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from typing import ClassVar, Literal

import msgspec

from actors.kernel.facets import Delta, Rendering
from actors.kernel.kind import Event, Peek, View
from actors.own_views import owner_only
from actors.party.memberships import Memberships
from actors.voice.attendance import Attendance
from actors.voice.public import PlaceOf, VoiceChannel, VoiceSession, channel_of, session_on
from actors.voice.state import State
from persistence.connection import Connection

NAME = "voice"
"""The name of the view, and of its channel."""

INTERVAL_MS = 250
"""Least time between two frames to one viewer, so that who speaks is told four times a second at most."""


class VoiceSnapshot(msgspec.Struct, kw_only=True, frozen=True):
    """The channel that the user is in, else a private one where the other waits, else their party's when somebody is in
    it, else null; and the user's session there.

    Args:
        channel: the channel that the user is in; null in none.
        session: the user's session in it; null without one.
    """

    type: Literal["voice_snapshot"] = "voice_snapshot"
    channel: VoiceChannel | None
    session: VoiceSession | None


class VoiceMigrate(msgspec.Struct, frozen=True, rename="camel"):
    """The channel is carried by another node: join it there.

    Args:
        session: the session that replaces the user's.
    """

    channel_id: str
    session: VoiceSession


class VoiceSpeaking(msgspec.Struct, frozen=True, rename="camel"):
    """The ids of the users who speak in the channel now."""

    channel_id: str
    user_ids: tuple[str, ...]


class OwnVoice(msgspec.Struct, frozen=True):
    """The state of one user's view.

    Args:
        channel: the channel that concerns the user; None for none.
        speaking: ids of the sessions that speak there.
        is_carried: whether the node of the channel is there.
    """

    user_id: str
    channel: State | None = None
    speaking: frozenset[str] = frozenset()
    is_carried: bool = False


class Changed(Event, frozen=True):
    """Another channel concerns the user, or their channel has changed."""


class Migrated(Event, frozen=True):
    """Another node carries the user's channel."""


class Spoke(Event, frozen=True):
    """Other participants speak than before."""

    journaled: ClassVar[bool] = False


class OwnVoiceRules:
    """The functions of the view that need more than their arguments.

    Args:
        attendance: knows all channels.
        memberships: knows who is in which party.
        place_of: looks up a voice node.
    """

    def __init__(self, attendance: Attendance, memberships: Memberships, place_of: PlaceOf) -> None:
        self._attendance = attendance
        self._memberships = memberships
        self._place_of = place_of

    def view(self) -> View[OwnVoice]:
        """Make the record that the kernel runs."""
        return View(
            name=NAME,
            load=_load,
            reread=_reread,
            take=self.take,
            absorb=lambda state, _found: state,
            rendering=Rendering(audience=owner_only, render=self.render, render_event=self.render_event),
            interval_ms=INTERVAL_MS,
            adopt=self.adopt,
            events=happened,
        )

    def adopt(self, _before: OwnVoice | None, state: OwnVoice) -> OwnVoice:
        """The state of the view as memory has it now."""
        return self.look(state.user_id)

    def take(
        self, state: OwnVoice, _sources: AbstractSet[str], _peek: Peek
    ) -> tuple[OwnVoice, AbstractSet[str]]:
        """The state of the view as memory has it now; nothing has to be read from rows."""
        return self.look(state.user_id), frozenset()

    def look(self, user_id: str) -> OwnVoice:
        """What a user sees now."""
        channel = self._attendance.shown_to(user_id, self._memberships.of(user_id))
        if channel is None:
            return OwnVoice(user_id)
        sessions = {one.session_id for one in channel.sessions.values()}
        is_carried = self._place_of(channel.node_id) is not None
        return OwnVoice(user_id, channel, frozenset(sessions & self._attendance.speaking), is_carried)

    def render(self, state: OwnVoice, _audience: None) -> VoiceSnapshot:
        """The channel that the user is shown, and their session in it."""
        channel = state.channel
        if channel is None:
            return VoiceSnapshot(channel=None, session=None)
        place = self._place_of(channel.node_id)
        shown = channel_of(channel, place, state.speaking)
        return VoiceSnapshot(channel=shown, session=self._session(state))

    def render_event(self, state: OwnVoice, event: Event, _audience: None) -> Delta | None:
        """An event as the user sees it."""
        channel = state.channel
        if isinstance(event, Spoke):
            if channel is None:
                return None
            speaking = [one.user_id for one in channel.sessions.values() if one.session_id in state.speaking]
            heard = tuple(id for id in speaking if id not in channel.control.muted_ids)
            return Delta("speaking", VoiceSpeaking(channel.id, heard))
        if isinstance(event, Migrated):
            session = self._session(state)
            return (
                None if session is None else Delta("voice_migrate", VoiceMigrate(session.channel_id, session))
            )
        return Delta("voice_updated", self.render(state, None))

    def _session(self, state: OwnVoice) -> VoiceSession | None:
        channel = state.channel
        mine = None if channel is None else channel.sessions.get(state.user_id)
        if channel is None or mine is None:
            return None
        if self._attendance.of_user(state.user_id) != (channel.id, mine.session_id):
            return None
        place = self._place_of(channel.node_id)
        return None if place is None else session_on(channel, mine, place)


def happened(before: OwnVoice, after: OwnVoice, _sources: Collection[str]) -> Sequence[Event]:
    """The events that lead from one state to the next."""
    told: list[Event] = []
    old, new = before.channel, after.channel
    if old is not None and new is not None and old.id == new.id and old.node_id != new.node_id:
        mine, was = new.sessions.get(after.user_id), old.sessions.get(after.user_id)
        if mine is not None and was is not None and mine.session_id == was.session_id:
            told.append(Migrated())
    if new != old or after.is_carried != before.is_carried:
        told.append(Changed())
    elif after.speaking != before.speaking:
        told.append(Spoke())
    return told


async def _load(_conn: Connection, user_id: str) -> OwnVoice:
    return OwnVoice(user_id)


async def _reread(_conn: Connection, user_id: str, _sources: AbstractSet[str]) -> OwnVoice:
    return OwnVoice(user_id)


def concerned(state: State, members: Collection[str]) -> set[str]:
    """The ids of users whose view may show a channel: its participants, the pair, and the members of the party.

    Args:
        members: ids of the party's members; empty for a private channel.
    """
    return {*state.sessions, *state.pair, *members}
