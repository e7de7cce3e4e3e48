"""The Domain record of chat."""

from persistence.chat.exported import EXPORTED
from routes.chat import attachments, conversations, messages, polls, streams
from routes.chat.channels import CONVERSATION, INBOX
from routes.chat.doubts import RECONCILIATIONS
from routes.chat.erasing import forget_user
from routes.chat.follow import follow
from routes.chat.jobs import jobs_of
from routes.chat.parts import BLOBS, CHAT_KINDS, UPLOAD_CHECKS
from routes.chat.reactions import REACTIONS
from routes.chat.reads import window_bytes
from routes.chat.socket_commands import COMMANDS
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.service import Service


def _show_gauges(service: Service) -> None:
    service.metrics.gauge(
        "chat_window_bytes",
        "Bytes of the messages that live conversations hold.",
        lambda: window_bytes(service),
    )


CHAT = Domain(
    name="chat",
    mounts=(Mount("chat", (conversations, messages, polls, attachments, streams)),),
    parts=(CHAT_KINDS, BLOBS, UPLOAD_CHECKS),
    channels=(INBOX, CONVERSATION),
    commands=COMMANDS,
    jobs=jobs_of,
    follow=follow,
    gauges=_show_gauges,
    reactions=REACTIONS,
    reconciliations=RECONCILIATIONS,
    forget_user=forget_user,
    exported=EXPORTED,
)
