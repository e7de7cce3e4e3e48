"""The Domain record of voice."""

from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.voice import channels, machines, regions, sessions, streams
from routes.voice.erasing import let_go
from routes.voice.follow import follow
from routes.voice.jobs import jobs_of
from routes.voice.on_socket import CHANNEL
from routes.voice.parts import ATTENDANCE, FLEET, NODE_SECRETS, VOICE_KINDS, VOICE_WATCH, WAITING_NODES
from routes.voice.reactions import REACTIONS, RECONCILIATIONS

VOICE = Domain(
    name="voice",
    mounts=(Mount("voice", (machines, regions, channels, sessions, streams)),),
    parts=(FLEET, NODE_SECRETS, WAITING_NODES, ATTENDANCE, VOICE_KINDS, VOICE_WATCH),
    channels=(CHANNEL,),
    jobs=jobs_of,
    follow=follow,
    reactions=REACTIONS,
    reconciliations=RECONCILIATIONS,
    let_go=let_go,
)
