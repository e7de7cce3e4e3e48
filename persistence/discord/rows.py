"""The rows of the tables of Discord webhooks, as structs."""

from typing import Literal

import msgspec

WebhookStatus = Literal["none", "active", "unreachable", "gone", "invalid"]
"""How a webhook stands (contract §7)."""

DiscordEvent = Literal[
    "server_online", "server_offline", "news_published", "member_joined", "publication_listed"
]
"""What may be posted."""


class WebhookRow(msgspec.Struct, frozen=True, kw_only=True):
    """A network's Discord settings and the state of its webhook.

    Args:
        webhook_id: Discord's number of it; None without one.
        sealed_token: opened with the service's key alone; None where there is nothing to send with.
        failures: how often in a row Discord has not answered.
        failing_since_ms: since when it does not; None where it does.
        due_at_ms: nothing is sent before.
    """

    network_id: str
    guild_id: str
    invite_url: str | None
    events: tuple[DiscordEvent, ...]
    webhook_status: WebhookStatus = "none"
    webhook_id: str | None = None
    sealed_token: bytes | None = None
    failures: int = 0
    failing_since_ms: int | None = None
    due_at_ms: int = 0
    created_at_ms: int
    updated_at_ms: int


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What a post is about.

    Args:
        network_id: whose webhook it goes to; None for that of the server's network.
    """

    network_id: str | None = None
    server_id: str | None = None
    user_id: str | None = None
    news_id: str | None = None
    publication_id: str | None = None


class PostRow(msgspec.Struct, frozen=True, kw_only=True):
    """A post that waits, with what its text is made of.

    Args:
        seq: its place in the queue.
        sending: Discord may have received it.
        attempts: how often it has failed.
        current: whether what it tells is still so, and for everybody to read.
        network_name: whose webhook it is.
        title: name of the server or publication, or title of the article.
        text: summary of the article, or address of the publication.
        player_name: who has joined.
        image_url: of the article, https.
    """

    seq: int
    event: DiscordEvent
    created_at_ms: int
    attempts: int
    sending: bool
    current: bool
    network_name: str
    title: str
    text: str
    player_name: str | None
    image_url: str | None


class WatchedRow(msgspec.Struct, frozen=True):
    """A network that wants to know of its servers.

    Args:
        online: the servers that were last said to be online.
    """

    network_id: str
    online: tuple[str, ...]
