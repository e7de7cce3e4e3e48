"""A user's session in a voice channel: joining, keeping it alive, and leaving (contract §10)."""

from functools import partial

import msgspec

from actors.bounds import ObjectIdText, UuidText
from actors.errors import Blocked, Conflict, Forbidden, Invalid, NotFound, Overloaded, QuotaExceeded
from actors.id_fields import object_id_in, uuid_in
from actors.voice.commands import EndSessions, Join, Sync
from actors.voice.public import VoiceChannel, VoiceSession, session_on
from actors.voice.rules import belongs
from actors.voice.state import SILENCE_MS, State
from routes.asking import ask_if_there
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import UpstreamUnavailable
from routes.edge.wire import Wire
from routes.rates import VOICE_JOIN
from routes.voice.channels import WRITE, shown
from routes.voice.home import ask_channel, go_home, tell_channel
from routes.voice.parts import ATTENDANCE, VOICE_KINDS
from routes.voice.placing import carried, seat
from routes.voice.reactions import show

SYNC_INTERVAL_MS = 15_000

_SESSION = "/v1/social/voice/session"


class JoinVoiceBody(Wire, frozen=True):
    """The channel to come into."""

    channel_id: UuidText
    self_mute: bool = False
    self_deaf: bool = False


class JoinedVoice(Wire, frozen=True):
    """The caller's session, and the channel.

    Args:
        session: the caller's session.
        channel: the channel, with the caller in it.
        sync_interval_ms: how often to sync; after 45 seconds without it, the session ends.
    """

    session: VoiceSession
    channel: VoiceChannel
    sync_interval_ms: int


class SyncBody(Wire, frozen=True):
    """How the caller is; fields that are left out stay.

    Args:
        speaking: whether the caller is heard at the moment.
    """

    session_id: ObjectIdText
    self_mute: bool | None = None
    self_deaf: bool | None = None
    speaking: bool | None = None


class SyncReply(Wire, frozen=True, omit_defaults=True):
    """The channel.

    Args:
        channel: the channel as it is now.
        session: where there is a token that is fresher than the one of joining: it is replaced five minutes before its
            end, and when the user is muted or the channel moves. Repeated for 45 seconds.
        migrate: the channel has moved in the last 45 seconds: whoever is on another node than `nodeId` joins there.
    """

    channel: VoiceChannel
    server_time_ms: int
    session: VoiceSession | msgspec.UnsetType = msgspec.UNSET
    migrate: bool = False


class LeaveBody(Wire, frozen=True):
    """The session that ends."""

    session_id: ObjectIdText


@endpoint(
    "POST",
    f"{_SESSION}/join",
    needs=WRITE,
    rate=VOICE_JOIN,
    refusals=(
        NotFound,
        Blocked,
        Forbidden,
        Invalid,
        Conflict,
        QuotaExceeded,
        Overloaded,
        UpstreamUnavailable,
    ),
    secret_reply=True,
)
async def join_voice(call: Call, body: JoinVoiceBody) -> JoinedVoice:
    """Comes into a channel, and answers the node and a token for it.

    Needs `social:voice.write`, and to be of the pair or party (404 else). A user has one session: an older one ends
    with `REPLACED`. A locked channel is a 409 with `meta.reason` `LOCKED`, a full channel or node a 422
    `QUOTA_EXCEEDED`; a user who was removed is refused for ten minutes (403, `meta.reason` `REMOVED`). Without a node
    that is online: 503.
    """
    channel_id = uuid_in(body.channel_id, "/channelId")
    await go_home(call)
    service, user_id = call.service, call.user_id
    kinds, attendance = service.of(VOICE_KINDS), service.of(ATTENDANCE)
    async with service.turnstile.turn(f"voice of {user_id}"):
        state = attendance.state(channel_id)
        if state is None or not belongs(state, user_id, kinds.is_member):
            raise NotFound("no such channel")
        state = await carried(service, state, user_id)
        with seat(service, state, user_id):
            command = Join(user_id, call.new_id(), state.node_id or "", body.self_mute, body.self_deaf)
            joined: JoinedVoice = await ask_channel(call, state.id, command, partial(_joined, call))
            return joined


@endpoint("POST", f"{_SESSION}/sync", needs=WRITE, refusals=(NotFound, Invalid, Conflict))
async def sync_voice(call: Call, body: SyncBody) -> SyncReply:
    """Says that the caller is there; at least each 30 seconds.

    Needs `social:voice.write`. A session that has ended is a 409, with `meta.reason` `REPLACED`, `REMOVED` or
    `EXPIRED`.
    """
    asked_id = object_id_in(body.session_id, "/sessionId")
    await go_home(call)
    service = call.service
    attendance = service.of(ATTENDANCE)
    channel_id, session_id = _session(call, asked_id)
    before = attendance.state(channel_id)
    command = Sync(call.user_id, session_id, body.self_mute, body.self_deaf)
    if before is None:
        raise NotFound("no such session")
    if attendance.hear(session_id, speaking=body.speaking):
        tell_channel(service, before)
        show(service, before)
    synced: SyncReply = await ask_channel(call, channel_id, command, partial(_synced, call))
    return synced


@endpoint("POST", f"{_SESSION}/leave", needs=WRITE, refusals=(Invalid,))
async def leave_voice(call: Call, body: LeaveBody) -> None:
    """Ends the caller's session; again is the same.

    Needs `social:voice.write`.
    """
    session_id = object_id_in(body.session_id, "/sessionId")
    await go_home(call)
    service = call.service
    mine = service.of(ATTENDANCE).of_user(call.user_id)
    if mine is None or mine[1] != session_id:
        return
    command = EndSessions(((call.user_id, mine[1]),), "EXPIRED")
    await ask_if_there(service, service.of(VOICE_KINDS).channel, mine[0], command)


def _session(call: Call, session_id: str) -> tuple[str, str]:
    """Channel and id of the caller's session.

    Raises:
        NotFound: the session is not one of the caller's.
        Conflict: the session has ended.
    """
    attendance = call.service.of(ATTENDANCE)
    mine = attendance.of_user(call.user_id)
    if mine is not None and mine[1] == session_id:
        return mine
    if attendance.user_of(session_id) != call.user_id:
        raise NotFound("no such session")
    raise Conflict("this session has ended", reason=attendance.why_ended(session_id))


def _own(call: Call, state: State) -> VoiceSession:
    place = call.service.of(VOICE_KINDS).place_of(state.node_id)
    session = state.sessions.get(call.user_id)
    if place is None or session is None:
        raise UpstreamUnavailable("the voice node has just gone; try again")
    return session_on(state, session, place)


def _joined(call: Call, state: State) -> JoinedVoice:
    return JoinedVoice(_own(call, state), shown(call, state), SYNC_INTERVAL_MS)


def _synced(call: Call, state: State) -> SyncReply:
    reply = SyncReply(shown(call, state), call.now_ms)
    mine = state.sessions.get(call.user_id)
    if mine is None or state.node_id is None:
        return reply
    since_ms = call.now_ms - SILENCE_MS
    moved_ms = call.service.of(ATTENDANCE).moved_ms(state.id)
    migrate = moved_ms is not None and moved_ms > max(since_ms, mine.joined_at_ms)
    if not migrate and mine.issued_at_ms <= max(since_ms, mine.joined_at_ms):
        return reply
    return msgspec.structs.replace(reply, session=_own(call, state), migrate=migrate)
