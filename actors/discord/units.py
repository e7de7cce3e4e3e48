"""Set and remove a network's Discord webhook: units of work, inside the caller's transaction."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from actors.change import Change
from actors.discord.moves import backoff_ms
from actors.errors import Conflict, NotFound, RevisionConflict
from persistence.connection import Connection
from persistence.discord import outbox, servers, webhooks
from persistence.discord.rows import DiscordEvent, WebhookRow
from persistence.networks import networks

OF_SERVERS: frozenset[DiscordEvent] = frozenset({"server_online", "server_offline"})

FirstStatus: TypeAlias = Literal["active", "unreachable"]
"""The statuses that a webhook can have when it is stored."""

Keep: TypeAlias = Literal["keep"]
"""The wish that the present webhook stays."""

CHANGED = "the settings were changed meanwhile"
"""The sentence of a conflict."""


class DiscordChanged(msgspec.Struct, frozen=True):
    """A network has other Discord settings than before, or none."""

    network_id: str


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook that Discord was asked about.

    Args:
        id: Discord's number of the webhook.
        sealed_token: the token, sealed as it is stored.
        status: `active` when Discord knows it in the guild, `unreachable` when it has not answered.
        stored: the sealed token in rows from which the webhook was read; None where the owner has given its address.
    """

    id: str
    sealed_token: bytes
    status: FirstStatus
    stored: bytes | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """The Discord settings that a network's owner wants.

    Args:
        webhook: the webhook in place of the present one; `keep` leaves that, None removes it.
        online: ids of the network's servers that are online now, so that no post says so.
    """

    guild_id: str
    invite_url: str | None
    events: tuple[DiscordEvent, ...]
    webhook: Webhook | Keep | None
    online: tuple[str, ...]


async def put(
    conn: Connection,
    network_id: str,
    owner_id: str,
    wish: Wish,
    now_ms: int,
    *,
    is_current: Callable[[WebhookRow | None], bool],
) -> Change[WebhookRow]:
    """Store a network's Discord settings.

    Posts that wait go to the new webhook; without one they are dropped, as are those of one that could not be used.

    Args:
        is_current: whether the stored settings, or None for none, are those that the client has seen and changed.

    Raises:
        NotFound: this user has no such network.
        RevisionConflict: the settings have changed since the client saw them.
        Conflict: the stored webhook is to be kept, and it or its guild was replaced since Discord was asked about it.
    """
    await _authorise(conn, network_id, owner_id)
    before = await webhooks.close(conn, network_id)
    if not is_current(before):
        raise RevisionConflict
    row = WebhookRow(
        network_id=network_id,
        guild_id=wish.guild_id,
        invite_url=wish.invite_url,
        events=wish.events,
        created_at_ms=now_ms if before is None else before.created_at_ms,
        updated_at_ms=now_ms,
    )
    row = _with_webhook(row, before, wish.webhook, now_ms)
    await webhooks.put(conn, row)
    if before is not None and (row.sealed_token is None or before.sealed_token is None):
        await outbox.drop_all(conn, network_id)
    if OF_SERVERS & {*row.events} and not (before is not None and OF_SERVERS & {*before.events}):
        await servers.replace(conn, network_id, wish.online)
    return Change(row, (DiscordChanged(network_id),))


async def remove(conn: Connection, network_id: str, owner_id: str) -> Change[None]:
    """Delete a network's Discord settings, and what waits to be posted.

    Raises:
        NotFound: this user has no such network.
    """
    await _authorise(conn, network_id, owner_id)
    await webhooks.remove(conn, network_id)
    return Change(None, (DiscordChanged(network_id),))


def _with_webhook(
    row: WebhookRow, before: WebhookRow | None, wish: Webhook | Keep | None, now_ms: int
) -> WebhookRow:
    match wish:
        case None:
            return row
        case Webhook(stored=stored) if stored is not None and (
            before is None or before.sealed_token != stored
        ):
            raise Conflict(CHANGED)
        case Webhook():
            silent = wish.status == "unreachable"
            return replace(
                row,
                webhook_status=wish.status,
                webhook_id=wish.id,
                sealed_token=wish.sealed_token,
                failures=int(silent),
                failing_since_ms=now_ms if silent else None,
                due_at_ms=now_ms + backoff_ms(1) if silent else now_ms,
            )
        case _ if before is None:
            return row
        case _:
            if before.sealed_token is not None and before.guild_id != row.guild_id:
                raise Conflict(CHANGED)
            return replace(
                row,
                webhook_status=before.webhook_status,
                webhook_id=before.webhook_id,
                sealed_token=before.sealed_token,
                failures=before.failures,
                failing_since_ms=before.failing_since_ms,
                due_at_ms=before.due_at_ms,
            )


async def _authorise(conn: Connection, network_id: str, owner_id: str) -> None:
    network = await networks.lock(conn, network_id)
    if network is None or network.owner_id != owner_id:
        raise NotFound
