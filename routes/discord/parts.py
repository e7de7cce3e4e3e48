"""The part of Discord webhooks: Discord's API, the worker that posts, and the game servers that posts are about."""

from dataclasses import dataclass

from actors.discord.uptime import Uptime
from persistence.discord import servers
from routes.discord.discord_api import MAX_BYTES, SECONDS, DiscordApi
from routes.discord.sealed_tokens import SealedTokens
from routes.discord.sender import CONCURRENT, Sender
from routes.edge.outgoing_http import Upstream
from routes.part import Opening, Part

CONNECTIONS = CONCURRENT + 10
"""Most connections to Discord at the same time: posts leave room for owners who wait for an answer."""


@dataclass(frozen=True, slots=True, eq=False)
class Discord:
    """The objects that requests about webhooks use.

    Args:
        base_url: the address of Discord's API.
        api: sends requests to Discord.
        tokens: seals and opens the webhooks' tokens.
        sender: posts what is queued.
        uptime: whether game servers are online, for networks that want posts about that.
    """

    base_url: str
    api: DiscordApi
    tokens: SealedTokens
    sender: Sender
    uptime: Uptime


async def _open(opening: Opening) -> Discord:
    base_url = opening.config.discord_url
    upstream = Upstream(base_url, seconds=SECONDS, max_bytes=MAX_BYTES, connections=CONNECTIONS)
    api = DiscordApi(await opening.stack.enter_async_context(upstream), opening.clock.now_ms)
    tokens = SealedTokens(opening.keys, opening.random_bytes)
    uptime = Uptime()
    for watched in await opening.database.read(servers.watched):
        uptime.watch(watched)
    return Discord(base_url, api, tokens, Sender(opening.database, opening.clock, api, tokens), uptime)


WEBHOOKS = Part(name="webhooks of Discord", open=_open)
"""Discord's webhooks. No request is sent to Discord before a network has a webhook."""
