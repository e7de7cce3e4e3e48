"""What clients see of a network's Discord settings (contract §7); the webhook's address is never shown."""

import msgspec

from actors.time import iso
from persistence.discord.rows import DiscordEvent, WebhookRow, WebhookStatus


class Discord(msgspec.Struct, frozen=True, rename="camel"):
    """A network's Discord settings.

    Args:
        guild_id: the guild (Discord calls it a server) that the webhook belongs to.
        invite_url: the address of an invite to the guild, for players; or null.
        events: the events that are posted.
        webhook_status: `none` without a webhook; `active`; `unreachable` while Discord does not answer; `gone` when
            Discord has no such webhook any more, `invalid` when it refuses us: both want a new address.
    """

    guild_id: str
    invite_url: str | None
    events: tuple[DiscordEvent, ...]
    webhook_status: WebhookStatus
    created_at: str
    updated_at: str


def discord_of(row: WebhookRow) -> Discord:
    """The settings as the network's owner sees them."""
    return Discord(
        guild_id=row.guild_id,
        invite_url=row.invite_url,
        events=row.events,
        webhook_status=row.webhook_status,
        created_at=iso(row.created_at_ms),
        updated_at=iso(row.updated_at_ms),
    )
