"""The stream of a user's own voice (contract §10)."""

import msgspec

from actors.kernel.sink import Prepared
from actors.kernel.subscription import WatchRequest
from actors.voice.commands import VoiceViewer
from actors.voice.own_view import NAME, VoiceMigrate, VoiceSnapshot, VoiceSpeaking
from actors.voice.public import VoiceSession
from routes.call import Call
from routes.edge.declare.endpoint import stream
from routes.edge.listener import Listener
from routes.edge.websocket.frames import prepare
from routes.edge.websocket.socket import LiveSocket
from routes.live.single import StreamQuery, unannounced, watch
from routes.voice.parts import VOICE_KINDS

READ = "social:voice.read"


class MigrateTold(msgspec.Struct, frozen=True, rename="camel", tag_field="type", tag="migrate"):
    """The caller's channel is carried by another node: join it there."""

    channel_id: str
    session: VoiceSession


class SpeakingTold(msgspec.Struct, frozen=True, rename="camel", tag_field="type", tag="speaking"):
    """Who speaks now in the channel that is shown."""

    channel_id: str
    user_ids: tuple[str, ...]


class _Envelope:
    """Implements `Envelope`: each frame has a `type` of its own."""

    __slots__ = ()

    def snapshot(self, channel: str, epoch: str, offset: int, skipped: int, data: object) -> Prepared:  # noqa: ARG002
        """A frame of the bare snapshot."""
        return prepare(data)

    def event(
        self,
        channel: str,  # noqa: ARG002
        epoch: str,  # noqa: ARG002
        offset: int | None,  # noqa: ARG002
        name: str,
        data: object,
        *,
        self_: object | None,  # noqa: ARG002
    ) -> Prepared:
        """A frame of one event.

        Raises:
            TypeError: `data` is of no event of the view; `name` is in the text.
        """
        match data:
            case VoiceSnapshot():
                return prepare(data)
            case VoiceMigrate():
                return prepare(MigrateTold(data.channel_id, data.session))
            case VoiceSpeaking():
                return prepare(SpeakingTold(data.channel_id, data.user_ids))
            case _:
                raise TypeError(f"{name} is no event of voice")


_ENVELOPE = _Envelope()


@stream("/v1/social/voice/live", needs=READ, sends=(VoiceSnapshot, MigrateTold, SpeakingTold))
async def voice_live(call: Call, socket: LiveSocket, query: StreamQuery) -> Listener | None:  # noqa: ARG001
    """GET /v1/social/voice/live: the channel that concerns the caller and their session in it, at once and on change.

    Needs `social:voice.read`. It is the channel that they are in, else a private one where the other waits, else their
    party's when somebody is in it, else null.
    """
    request = WatchRequest(
        sink=socket,
        viewer=VoiceViewer(call.user_id),
        channel=f"{NAME}:{call.user_id}",
        envelope=_ENVELOPE,
        mode="delta",
        opened=unannounced,
    )
    own = call.service.of(VOICE_KINDS).own
    return await watch(call, socket, request, shown=own, id=call.user_id, needs=READ)
