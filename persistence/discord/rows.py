"""The rows of the tables of Discord webhooks, as structs."""

from typing import Literal

import msgspec

WebhookStatus = Literal["none", "active", "unreachable", "gone", "invalid"]
"""The state of a webhook (contract §7)."""

DiscordEvent = Literal[
    "server_online", "server_offline", "news_published", "member_joined", "publication_listed"
]
"""The events about which a network may want posts."""


class WebhookRow(msgspec.Struct, frozen=True, kw_only=True):
    """A network's Discord settings and the state of its webhook.

    Args:
        webhook_id: Discord's id of the webhook; None without a webhook.
        sealed_token: the webhook's token, sealed with the service's key; None without a usable webhook.
        failures: how often in a row Discord has not answered.
        failing_since_ms: when Discord stopped answering, epoch milliseconds; None while it answers.
        due_at_ms: nothing is sent before this time, epoch milliseconds.
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
    """What a post is about, by ids; None for what does not apply.

    Args:
        network_id: the network whose webhook gets the post; None for the network of the server.
    """

    network_id: str | None = None
    server_id: str | None = None
    user_id: str | None = None
    news_id: str | None = None
    publication_id: str | None = None


class PostRow(msgspec.Struct, frozen=True, kw_only=True):
    """A post in the queue, with what its text is made of.

    Args:
        seq: its place in the queue.
        sending: a request with it was begun, so that Discord may have received it.
        attempts: how often sending it has failed.
        current: whether what it announces still holds and is public.
        network_name: the name of the network whose webhook gets it.
        title: name of the server or publication, or title of the article.
        text: summary of the article, or address of the publication.
        player_name: the name of the user who has joined; None for posts about other events.
        image_url: the `https` address of the article's cover picture, or None.
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
    """A network that wants posts when its servers go online or offline.

    Args:
        online: ids of the servers that were last announced as online.
    """

    network_id: str
    online: tuple[str, ...]
