"""Chat, as the service knows it."""

from typing import TYPE_CHECKING

from routes.chat import attachments, conversations, messages, polls, streams
from routes.chat.channels import CONVERSATION, INBOX
from routes.chat.erasing import forget_user
from routes.chat.follow import follow
from routes.chat.jobs import jobs_of
from routes.chat.reads import window_bytes
from routes.domain import Domain
from routes.edge.declare.endpoint import Mount
from routes.live import social

if TYPE_CHECKING:
    from routes.service import Service


def _show_gauges(service: "Service") -> None:
    gauge = service.metrics.gauge
    gauge(
        "chat_window_bytes",
        "Bytes of the messages that live conversations hold.",
        lambda: window_bytes(service),
    )
    gauge("disk_free_bytes", "Left on the disk of the attachments.", service.blobs.free_bytes)


CHAT = Domain(
    name="chat",
    mounts=(Mount("chat", (conversations, messages, polls, attachments, streams, social)),),
    channels=(INBOX, CONVERSATION),
    jobs=jobs_of,
    follow=follow,
    gauges=_show_gauges,
    forget_user=forget_user,
)
