"""Founding voice channels, and what moderators say of them (contract §10)."""

from functools import partial
from typing import Annotated

import msgspec

from actors.bounds import UuidText
from actors.errors import Blocked, Forbidden, Invalid, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from actors.id_fields import uuid_in, uuids_in
from actors.ids import Uuid, new_epoch
from actors.voice.commands import SetControl
from actors.voice.home import new_channel_id
from actors.voice.public import VoiceChannel, channel_of
from actors.voice.state import MAX_PARTICIPANTS, State
from actors.voice.units_channels import ChannelCreation, Founded, found
from persistence.voice import channels
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import UpstreamUnavailable
from routes.edge.reply import Reply
from routes.edge.wire import Wire
from routes.party.memberships import MEMBERSHIPS
from routes.voice.home import ask_channel, go_home
from routes.voice.machines import Region
from routes.voice.parts import ATTENDANCE, VOICE_KINDS
from routes.voice.placing import least_full, unplaced
from routes.voice.reactions import ChannelInDoubt

WRITE = "social:voice.write"

_CHANNELS = "/v1/social/voice/channels"


class PrivateBody(Wire, frozen=True):
    """A channel with one other.

    Args:
        target_id: the other.
        region: where it is carried, if a node is there; only for a channel that is new.
    """

    target_id: UuidText
    region: Region | None = None


class PartyBody(Wire, frozen=True):
    """The channel of the caller's party.

    Args:
        region: where it is carried, if a node is there; only for a channel that is new.
    """

    region: Region | None = None


class ControlBody(Wire, frozen=True):
    """What a moderator wants; fields that are left out stay.

    Args:
        locked: nobody comes in; who is in the channel stays, and may join again.
        muted_ids: all who are not to be heard, in the channel or not.
        max_participants: 1 to 64; who is in the channel stays.
        remove_ids: who goes, and is given no token for this channel for ten minutes.
    """

    locked: bool | None = None
    muted_ids: Annotated[list[UuidText], msgspec.Meta(max_length=MAX_PARTICIPANTS)] | None = None
    max_participants: Annotated[int, msgspec.Meta(ge=1, le=MAX_PARTICIPANTS)] | None = None
    remove_ids: Annotated[list[UuidText], msgspec.Meta(max_length=MAX_PARTICIPANTS)] | None = None


@endpoint(
    "POST",
    f"{_CHANNELS}/private",
    needs=WRITE,
    status=201,
    found_status=200,
    refusals=(NotFound, Invalid, Blocked, QuotaExceeded, UpstreamUnavailable),
)
async def open_private_voice_channel(call: Call, body: PrivateBody) -> Reply[VoiceChannel]:
    """The voice channel of the caller and one other, new (201) or not (200).

    Needs `social:voice.write`. Oneself is a 422, an unknown user a 404, a block between the two a 403 `BLOCKED`. An
    empty channel ends after a minute. A new one needs a seat on a node: without a node that is online the answer is a
    503, and where all that are online are full, a 422 `QUOTA_EXCEEDED`.
    """
    target_id = uuid_in(body.target_id, "/targetId")
    if target_id == call.user_id:
        raise Invalid(FieldError("/targetId", "NOT_ALLOWED", "name a user other than yourself"))
    await go_home(call)
    return await _find_or_create(call, body.region, target_id=target_id, party_id=None)


@endpoint(
    "POST",
    f"{_CHANNELS}/party",
    needs=WRITE,
    status=201,
    found_status=200,
    refusals=(NotFound, QuotaExceeded, UpstreamUnavailable),
)
async def open_party_voice_channel(call: Call, body: PartyBody) -> Reply[VoiceChannel]:
    """The voice channel of the caller's party, new (201) or not (200).

    Needs `social:voice.write`, and to be in a party (404 else). An empty channel ends after a minute. A new one needs a
    seat on a node: without a node that is online the answer is a 503, and where all that are online are full, a 422
    `QUOTA_EXCEEDED`.
    """
    await go_home(call)
    party_id = call.service.of(MEMBERSHIPS).of(call.user_id)
    if party_id is None:
        raise NotFound("you are in no party")
    return await _find_or_create(call, body.region, target_id=None, party_id=party_id)


async def known_channel(call: Call, channel_id: Uuid) -> None:
    """Guard: requires that there is such a channel; the turn decides again.

    Raises:
        NotFound: there is none.
    """
    if await call.service.database.read(channels.read, channel_id) is None:
        raise NotFound("no such channel")


@endpoint(
    "PUT",
    f"{_CHANNELS}/{{channelId}}/control",
    needs="social:voice.manage",
    refusals=(NotFound, Invalid, Forbidden),
    guard=known_channel,
)
async def control_voice_channel(call: Call, channel_id: Uuid, body: ControlBody) -> VoiceChannel:
    """Locks a channel, mutes and removes users.

    Needs `social:voice.manage`; the audit trail records it. Who is muted stays so in tokens to come. A removed user is
    given no token for the channel for ten minutes.
    """
    muted = None if body.muted_ids is None else _each_once(body.muted_ids, "/mutedIds")
    command = SetControl(
        locked=body.locked,
        muted_ids=muted,
        max_participants=body.max_participants,
        remove_ids=_each_once(body.remove_ids or [], "/removeIds"),
        stamp=stamp_of(call),
    )
    await go_home(call)
    shape = partial(shown, call)
    controlled: VoiceChannel = await ask_channel(call, channel_id, command, shape)
    return controlled


def shown(call: Call, state: State) -> VoiceChannel:
    """The channel as everybody in it sees it."""
    service = call.service
    place = service.of(VOICE_KINDS).place_of(state.node_id)
    return channel_of(state, place, service.of(ATTENDANCE).speaking)


async def _find_or_create(
    call: Call, region: str | None, *, target_id: Uuid | None, party_id: str | None
) -> Reply[VoiceChannel]:
    service = call.service
    node = least_full(service, region=region)
    homeless = unplaced(service)
    creation = ChannelCreation(
        user_id=call.user_id,
        channel_id=new_channel_id(service.random_bytes),
        epoch=new_epoch(service.random_bytes),
        target_id=target_id,
        party_id=party_id,
        node_id=None if node is None else node.row.node_id,
        now_ms=call.now_ms,
    )

    def shape(founded: Founded | None) -> Reply[VoiceChannel]:
        if founded is None:
            raise homeless
        return Reply(shown(call, founded.state), status=None if founded.is_new else 200)

    return await change(call, found, creation, about=ChannelInDoubt(creation.channel_id), shape=shape)


def _each_once(texts: list[str], pointer: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(uuids_in(texts, pointer)))
