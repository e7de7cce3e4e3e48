"""A voice channel as clients see it (contract §10)."""

from collections.abc import Callable, Collection, Mapping
from typing import Literal

import msgspec

from actors.time import iso
from actors.voice.grants import claims_of, expires_at_ms
from actors.voice.state import Session, State


class VoiceParticipant(msgspec.Struct, frozen=True, rename="camel"):
    """A user in a channel.

    Args:
        self_mute, self_deaf: whether they have muted or deafened themselves.
        server_mute: whether a moderator has muted them.
        speaking: whether they speak, as their client said last.
    """

    user_id: str
    name: str
    self_mute: bool
    self_deaf: bool
    server_mute: bool
    speaking: bool
    joined_at: str


class VoiceControl(msgspec.Struct, frozen=True, rename="camel"):
    """What moderators have decided for a channel.

    Args:
        locked: whether nobody may join.
        muted_ids: ids of users who are not heard, whether they are in the channel or not.
        max_participants: how many may be in it at once.
    """

    locked: bool
    muted_ids: tuple[str, ...]
    max_participants: int


class VoiceChannel(msgspec.Struct, frozen=True, rename="camel"):
    """A channel.

    Args:
        kind: `private` is between two users, `party` a party's.
        node_id, region: the node that carries it, and that node's region; null while no node is there for it.
        control: what moderators have decided for it.
        revision: rises with every change.
    """

    id: str
    kind: Literal["private", "party"]
    node_id: str | None
    region: str | None
    participants: tuple[VoiceParticipant, ...]
    control: VoiceControl
    revision: int


class VoiceSession(msgspec.Struct, frozen=True, rename="camel"):
    """The caller's own session.

    Args:
        url: the node's address, for a LiveKit client or any other that sends the token.
        token: the token with which the user joins the room that has the channel's id as its name.
        expires_at: when the token expires; that concerns joining only.
    """

    id: str
    channel_id: str
    url: str
    token: str
    expires_at: str


class Place(msgspec.Struct, frozen=True):
    """A voice node as its participants see it.

    Args:
        region: the node's region.
        url: the node's address.
        issuer: the name of the key with which its tokens are signed.
        sign: returns the signed token with the given claims.
    """

    region: str
    url: str
    issuer: str
    sign: Callable[[Mapping[str, object]], str]


PlaceOf = Callable[[str | None], Place | None]
"""Returns the node with this id; None while there is none."""


def session_on(state: State, session: Session, place: Place) -> VoiceSession:
    """A user's session with its token."""
    return VoiceSession(
        id=session.session_id,
        channel_id=state.id,
        url=place.url,
        token=place.sign(claims_of(state, session, place.issuer)),
        expires_at=iso(expires_at_ms(session)),
    )


def channel_of(state: State, place: Place | None, speaking: Collection[str]) -> VoiceChannel:
    """The channel as everybody in it sees it.

    Args:
        speaking: ids of the sessions that speak.
    """
    control = state.control
    return VoiceChannel(
        id=state.id,
        kind="private" if state.party_id is None else "party",
        node_id=None if place is None else state.node_id,
        region=None if place is None else place.region,
        participants=tuple(_participant(state, one, speaking) for one in state.sessions.values()),
        control=VoiceControl(control.locked, control.muted_ids, control.max_participants),
        revision=state.revision,
    )


def _participant(state: State, session: Session, speaking: Collection[str]) -> VoiceParticipant:
    return VoiceParticipant(
        user_id=session.user_id,
        name=session.name,
        self_mute=session.self_mute,
        self_deaf=session.self_deaf,
        server_mute=session.user_id in state.control.muted_ids,
        speaking=session.session_id in speaking and session.user_id not in state.control.muted_ids,
        joined_at=iso(session.joined_at_ms),
    )
