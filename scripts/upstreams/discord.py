"""Discord: its webhooks, with the limits and error messages of the API (v10), and the posts that they got.

`/discord/webhooks/<id>/<token>` is a webhook. Below `/_control/discord/`, beside what all sites have:

    GET    /_control/discord/webhooks
    POST   /_control/discord/webhooks  {"guildId": "…"}                       makes one
    POST   /_control/discord/webhooks  {"webhook": "…", "do": "delete"}       404 from now on
    POST   /_control/discord/webhooks  {"webhook": "…", "do": "renew"}        another token: 401 for the former
    GET    /_control/discord/posts
    POST   /_control/discord/limits    {"limit": 5, "seconds": 2.0, "globalSeconds": 1.5}
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import trio

from scripts.upstreams.discord_messages import complaints
from scripts.upstreams.faults import INSTEAD, Faults
from scripts.upstreams.http import Reply, Request, as_json

GUILD = "200000000000000001"

_CODES = {400: (50035, "Invalid Form Body"), 401: (50027, "Invalid Webhook Token"), 403: (50013, "Missing Permissions"),
          404: (10015, "Unknown Webhook"), 429: (0, "You are being rate limited.")}  # fmt: skip
"""{HTTP status: (code, message) of Discord's error}."""


@dataclass
class DiscordWebhook:
    """One webhook.

    Args:
        posts: the bodies of all messages that Discord has taken, in their order.
        window: (when the present window of requests began in monotonic seconds, how many requests it has had).
    """

    id: str
    token: str
    guild_id: str
    posts: list[dict[str, Any]] = field(default_factory=list)
    window: tuple[float, int] = (-1e9, 0)


class DiscordSite:
    """Discord.

    Args:
        now_s: a clock of monotonic seconds.

    Attributes:
        base_url: the site's address, set by the server that it is part of.
        faults: the faults that requests meet.
        webhooks: {id: webhook}; there is one from the beginning.
        limit, window_s: a webhook takes `limit` posts in `window_s` seconds.
        asked: (method, id of the webhook) of each request.
        most_at_once: {id of a webhook: the most requests about it that were open at once}.
    """

    def __init__(self, *, now_s: Callable[[], float] = time.monotonic) -> None:
        self.base_url = ""
        self.faults = Faults()
        self.webhooks: dict[str, DiscordWebhook] = {}
        self.limit = 5
        self.window_s = 2.0
        self.asked: list[tuple[str, str]] = []
        self.most_at_once: dict[str, int] = {}
        self._now_s = now_s
        self._halted_until_s = -1e9
        self._open: dict[str, int] = {}
        self.make(GUILD)

    async def answer(self, request: Request) -> Reply:
        """Answer a request to a webhook."""
        id = request.path.removeprefix("/webhooks/").partition("/")[0]
        self.asked.append((request.method, id))
        self._open[id] = self._open.get(id, 0) + 1
        self.most_at_once[id] = max(self._open[id], self.most_at_once.get(id, 0))
        try:
            fault = self.faults.take(request)
            if fault is None:
                return self._api(request)
            if fault.name in INSTEAD:
                fault.reached.set()
                return _refusal(INSTEAD[fault.name])
            return await self.faults.distorted(self._api(request), fault)
        finally:
            self._open[id] -= 1

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Report the start; the site does nothing beside answering."""
        task_status.started()

    def control(self, line: str, body: Mapping[str, Any]) -> Reply | None:
        """Make or end a webhook, set limits, or show posts; None where there is no such route.

        Raises:
            ValueError, KeyError: there is no such webhook, or the body is not what the route takes.
        """
        match line:
            case "GET /webhooks":
                return as_json(200, [self._shown(webhook) for webhook in self.webhooks.values()])
            case "POST /webhooks" if "do" in body:
                {"delete": self.delete, "renew": self.renew}[body["do"]](str(body["webhook"]))
            case "POST /webhooks":
                return as_json(200, self._shown(self.make(str(body["guildId"]))))
            case "GET /posts":
                return as_json(200, [post for webhook in self.webhooks.values() for post in webhook.posts])
            case "POST /limits":
                self.limit = int(body.get("limit", self.limit))
                self.window_s = float(body.get("seconds", self.window_s))
                self.halt(float(body.get("globalSeconds", 0)))
            case _:
                return None
        return as_json(200, {})

    def make(self, guild_id: str) -> DiscordWebhook:
        """Make a webhook of a guild."""
        number = len(self.webhooks) + 1
        webhook = DiscordWebhook(
            f"{300000000000000000 + number}", f"{number:04d}-tok_".ljust(68, "A"), guild_id
        )
        self.webhooks[webhook.id] = webhook
        return webhook

    def url(self, webhook: DiscordWebhook) -> str:
        """The address of a webhook, as Discord shows it."""
        return f"{self.base_url}/webhooks/{webhook.id}/{webhook.token}"

    def delete(self, id: str) -> None:
        """Remove a webhook, as a user of Discord does; raises KeyError when there is none of this id."""
        del self.webhooks[id]

    def renew(self, id: str) -> None:
        """Give a webhook another token; raises KeyError when there is none of this id."""
        self.webhooks[id].token = self.webhooks[id].token[::-1]

    def halt(self, seconds: float) -> None:
        """Refuse every request for so many seconds from now on (Discord's global rate limit)."""
        self._halted_until_s = self._now_s() + seconds

    def _shown(self, webhook: DiscordWebhook) -> dict[str, Any]:
        return {
            "id": webhook.id,
            "url": self.url(webhook),
            "guildId": webhook.guild_id,
            "posts": len(webhook.posts),
        }

    def _api(self, request: Request) -> Reply:
        now_s = self._now_s()
        if now_s < self._halted_until_s:
            return _limited(self._halted_until_s - now_s, everywhere=True)
        match request.path.split("/"):
            case ["", "webhooks", id, token] if id in self.webhooks:
                webhook = self.webhooks[id]
            case _:
                return _refusal(404)
        if token != webhook.token:
            return _refusal(401)
        if request.method == "GET":
            shown = {"type": 1, "id": webhook.id, "name": "Captain Hook", "avatar": None, "application_id": None,
                     "channel_id": "400000000000000001", "guild_id": webhook.guild_id, "token": token}  # fmt: skip
            return as_json(200, shown)
        return self._post(webhook, request, now_s)

    def _post(self, webhook: DiscordWebhook, request: Request, now_s: float) -> Reply:
        began_s, had = webhook.window
        if now_s >= began_s + self.window_s:
            began_s, had = now_s, 0
        left_s = began_s + self.window_s - now_s
        if had >= self.limit:
            return _limited(left_s)
        webhook.window = (began_s, had + 1)
        headers = (
            ("X-RateLimit-Limit", str(self.limit)), ("X-RateLimit-Remaining", str(self.limit - had - 1)),
            ("X-RateLimit-Reset-After", f"{left_s:.3f}"), ("X-RateLimit-Bucket", "5a3b"),
        )  # fmt: skip
        try:
            message = request.json()
        except ValueError:
            return replace(_refusal(400), headers=headers)
        errors = complaints(message)
        if errors:
            return replace(
                as_json(400, {"message": "Invalid Form Body", "code": 50035, "errors": errors}),
                headers=headers,
            )
        webhook.posts.append(message)
        if request.query.get("wait") != "true":
            return Reply(204, headers=headers)
        posted = {
            "id": f"{500000000000000000 + len(webhook.posts)}",
            "type": 0,
            "webhook_id": webhook.id,
            **message,
        }
        return replace(as_json(200, posted), headers=headers)


def _refusal(status: int) -> Reply:
    if status == 429:
        return _limited(0.65)
    if status not in _CODES:
        return Reply(status, b"upstream connect error", "text/plain")
    code, message = _CODES[status]
    return as_json(status, {"message": message, "code": code})


def _limited(seconds: float, *, everywhere: bool = False) -> Reply:
    value = {"message": "You are being rate limited.", "retry_after": round(seconds, 3), "global": everywhere}
    headers: tuple[tuple[str, str], ...] = (("Retry-After", str(int(seconds) + 1)),)
    if everywhere:
        headers += (("X-RateLimit-Global", "true"),)
    return replace(as_json(429, value), headers=headers)
