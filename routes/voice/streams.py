"""The stream of a user's own voice (contract §10)."""

import msgspec

from actors.voice.own_view import VoiceMigrate, VoiceSnapshot, VoiceSpeaking
from actors.voice.public import VoiceSession
from routes.call import Call
from routes.edge.declare.endpoint import stream
from routes.edge.listener import Listener
from routes.edge.websocket.socket import LiveSocket
from routes.live.single import StreamQuery, show_own
from routes.voice.parts import VOICE_KINDS

READ = "social:voice.read"


class MigrateTold(msgspec.Struct, frozen=True, rename="camel", tag_field="type", tag="migrate"):
    """The caller's channel is carried by another node: join it there.

    Args:
        session: the session that replaces the user's.
    """

    channel_id: str
    session: VoiceSession


class SpeakingTold(msgspec.Struct, frozen=True, rename="camel", tag_field="type", tag="speaking"):
    """Who speaks now in the channel that is shown."""

    channel_id: str
    user_ids: tuple[str, ...]


@stream("/v1/social/voice/live", needs=READ, sends=(VoiceSnapshot, MigrateTold, SpeakingTold))
async def voice_live(call: Call, socket: LiveSocket, query: StreamQuery) -> Listener | None:  # noqa: ARG001
    """The channel that concerns the caller and their session in it, at once and on change.

    Needs `social:voice.read`. It is the channel that they are in, else a private one where the other waits, else their
    party's when somebody is in it, else null.
    """
    return await show_own(call, socket, call.service.of(VOICE_KINDS).own, told=_frame_of)


def _frame_of(_name: str, data: VoiceSnapshot | VoiceMigrate | VoiceSpeaking) -> object:
    match data:
        case VoiceSnapshot():
            return data
        case VoiceMigrate():
            return MigrateTold(data.channel_id, data.session)
        case VoiceSpeaking():
            return SpeakingTold(data.channel_id, data.user_ids)
