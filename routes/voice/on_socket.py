"""The channel `voice` of `/v1/social/live`. Its offsets count in memory.

| snapshot      | events in delta mode                                |
|---------------|-----------------------------------------------------|
| VoiceSnapshot | voice_updated, voice_migrate; speaking (no offset)  |
"""

from actors.voice.own_view import NAME, VoiceMigrate, VoiceSnapshot, VoiceSpeaking
from routes.edge.declare.shown import Shown
from routes.live.channel import LiveChannel, the_user
from routes.voice.parts import VOICE_KINDS
from routes.voice.streams import READ

CHANNEL = LiveChannel(
    name=NAME,
    needs=(READ,),
    shown=lambda service: service.of(VOICE_KINDS).own,
    viewer=the_user,
    shows=Shown(
        says="The voice channel that concerns the user, and their session in it. `speaking` has no offset.",
        snapshot=VoiceSnapshot,
        events={"voice_updated": VoiceSnapshot, "voice_migrate": VoiceMigrate, "speaking": VoiceSpeaking},
    ),
)
