"""A network's Discord webhook (contract §7)."""

from collections import Counter
from functools import partial
from typing import Annotated

import msgspec
import trio
from msgspec import UNSET, UnsetType

from actors.discord import units
from actors.discord.addresses import MAX_ADDRESS_CHARACTERS, WebhookAddress, is_invite, webhook_of
from actors.discord.moves import Verdict
from actors.discord.public import Discord, discord_of
from actors.discord.units import DiscordChanged, Webhook, Wish
from actors.errors import Conflict, Invalid, NotFound, RevisionConflict
from actors.field_errors import FieldError
from actors.ids import Uuid
from persistence.discord import webhooks
from persistence.discord.rows import DiscordEvent, WebhookRow
from persistence.publications.rows import Target
from routes.call import Call
from routes.changes import change
from routes.discord.discord_api import Outcome
from routes.discord.parts import WEBHOOKS
from routes.edge.declare.endpoint import endpoint
from routes.edge.pipeline.conditions import condition_of, etag_of
from routes.edge.principal import AUTHENTICATED
from routes.edge.reply import Tagged
from routes.edge.wire import Wire
from routes.networks.guards import owner_of_network
from routes.publications.parts import STATUSES
from routes.rates import UPLOAD

_DISCORD = "/v1/connect/networks/{networkId}/discord"

LOOK_SECONDS = 3.0
"""How long an owner waits for Discord's answer."""

Address = Annotated[str, msgspec.Meta(max_length=MAX_ADDRESS_CHARACTERS)]


class DiscordBody(Wire, frozen=True):
    """A network's Discord settings.

    Args:
        guild_id: the guild (Discord calls it a server), 17 to 20 digits.
        webhook_url: as Discord shows it, never shown again; left out keeps the stored one, null removes it.
        invite_url: `https://discord.gg/…` or `https://discord.com/invite/…`, or null.
        events: what is posted, each once.
    """

    guild_id: Annotated[str, msgspec.Meta(pattern=r"^[0-9]{17,20}$(?!\n)", max_length=20)]
    events: Annotated[tuple[DiscordEvent, ...], msgspec.Meta(max_length=20)]
    webhook_url: Address | UnsetType | None = UNSET
    invite_url: Address | None = None


class DiscordReply(Wire, frozen=True):
    """The network's Discord settings, or null.

    Args:
        discord: the settings; null while there are none.
    """

    discord: Discord | None


@endpoint("GET", _DISCORD, needs=AUTHENTICATED, refusals=(NotFound,), guard=owner_of_network)
async def read_discord(call: Call, network_id: Uuid) -> Tagged[DiscordReply]:
    """The network's Discord settings. For its owner.

    The webhook's address is not shown. `webhookStatus` says how it stands: `unreachable` heals by itself; `gone` and
    `invalid` want a new address. The `ETag` changes with what the owner may write, also from null to the first
    settings, and not with how the webhook stands.
    """
    row = await call.service.database.read(webhooks.read, network_id)
    return _tagged(row)


@endpoint(
    "PUT",
    _DISCORD,
    needs=AUTHENTICATED,
    rate=UPLOAD,
    refusals=(NotFound, Invalid, Conflict, RevisionConflict),
    guard=owner_of_network,
)
async def put_discord(call: Call, network_id: Uuid, body: DiscordBody) -> Tagged[DiscordReply]:
    """Sets the webhook to which the network's events are posted.

    For the network's owner. Discord is asked first: 422 `NOT_VERIFIED` where it has no such webhook, or has it in
    another guild. Where it does not answer, the settings are stored as `unreachable`, and it is asked again. The
    address is stored encrypted. Posts name no mentions, and what users have written is shown as it was written.
    `If-Match` names the `ETag` of the settings that the caller has changed; if that is not the current one, the answer
    is a 409 `REVISION_CONFLICT`.
    """
    address = _checked(call, body)
    wish = Wish(
        guild_id=body.guild_id,
        invite_url=body.invite_url,
        events=body.events,
        webhook=await _webhook(call, network_id, body, address),
        online=_online(call, network_id),
    )
    return await change(
        call,
        partial(units.put, is_current=condition_of(call, _writable)),
        network_id,
        call.user_id,
        wish,
        call.now_ms,
        about=DiscordChanged(network_id),
        shape=_tagged,
    )


@endpoint("DELETE", _DISCORD, needs=AUTHENTICATED, refusals=(NotFound,), guard=owner_of_network)
async def remove_discord(call: Call, network_id: Uuid) -> None:
    """Deletes the network's Discord settings and what waits to be posted.

    For the network's owner. Answers 204, also where there are none. The webhook itself stays at Discord.
    """
    await change(call, units.remove, network_id, call.user_id, about=DiscordChanged(network_id))


def _tagged(row: WebhookRow | None) -> Tagged[DiscordReply]:
    shown = DiscordReply(None if row is None else discord_of(row))
    return Tagged(shown, etag_of(_writable(row)))


def _writable(row: WebhookRow | None) -> object:
    """The settings that a `DiscordBody` can change, for the ETag; a webhook is represented by Discord's id of it."""
    return None if row is None else [row.guild_id, row.invite_url, row.events, row.webhook_id]


def _checked(call: Call, body: DiscordBody) -> WebhookAddress | None:
    """The webhook that the body names, checked, or None."""
    errors: list[FieldError] = []
    address: WebhookAddress | None = None
    if isinstance(body.webhook_url, str):
        address = webhook_of(body.webhook_url, call.service.of(WEBHOOKS).base_url)
        if address is None:
            sentence = "https://discord.com/api/webhooks/…, as Discord shows it"
            errors.append(FieldError("/webhookUrl", "BAD_FORMAT", sentence))
    if body.invite_url is not None and not is_invite(body.invite_url):
        errors.append(FieldError("/inviteUrl", "BAD_FORMAT", "https://discord.gg/…"))
    seen: Counter[str] = Counter()
    for place, event in enumerate(body.events):
        seen[event] += 1
        if seen[event] == 2:
            errors.append(FieldError(f"/events/{place}", "DUPLICATE", "each event once"))
    if errors:
        raise Invalid(*errors)
    return address


async def _webhook(
    call: Call, network_id: str, body: DiscordBody, address: WebhookAddress | None
) -> Webhook | units.Keep | None:
    """The webhook as it is to be stored, after Discord was asked, also where the stored one gets another guild."""
    here = call.service.of(WEBHOOKS)
    if address is not None:
        sealed = here.tokens.seal(address, network_id)
        return Webhook(address.id, sealed, await _status(call, address, body.guild_id))
    if body.webhook_url is None:
        return None
    row = await call.service.database.read(webhooks.read, network_id)
    if row is None or row.sealed_token is None or row.guild_id == body.guild_id:
        return "keep"
    stored = here.tokens.open(row)
    if stored is None:
        raise _not_verified("the stored address can no longer be read: give it again")
    status = await _status(call, stored, body.guild_id)
    return Webhook(stored.id, row.sealed_token, status, stored=row.sealed_token)


async def _status(call: Call, address: WebhookAddress, guild_id: str) -> units.FirstStatus:
    """Ask Discord for the first status of a webhook.

    Raises:
        Invalid: Discord does not know it, or knows it in another guild.
    """
    outcome: Outcome | None = None
    with trio.move_on_after(LOOK_SECONDS):
        outcome = await call.service.of(WEBHOOKS).api.look(address)
    verdict = Verdict.DOUBTFUL if outcome is None else outcome.verdict
    if verdict in {Verdict.UNKNOWN, Verdict.DENIED, Verdict.REFUSED}:
        raise _not_verified("Discord does not know this webhook")
    if outcome is not None and verdict is Verdict.TAKEN:
        if outcome.guild_id != guild_id:
            raise _not_verified("the webhook belongs to another guild")
        return "active"
    return "unreachable"


def _online(call: Call, network_id: str) -> tuple[str, ...]:
    """The servers of a network that are online now."""
    statuses = call.service.of(STATUSES)
    here = statuses.servers_in(network_id)
    return tuple(id for id in here if statuses.of(Target("server", id), call.now_ms).online)


def _not_verified(sentence: str) -> Invalid:
    return Invalid(FieldError("/webhookUrl", "NOT_VERIFIED", sentence))
