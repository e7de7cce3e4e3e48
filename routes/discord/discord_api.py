"""Requests to Discord's webhooks (API v10): asking about one, and posting to it.

Discord's rate limits are not known beforehand: each answer says how many requests are left and when there are more.
Discord counts its answers 401, 403 and 429, and shuts out an IP address that gets 10,000 of them in ten minutes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from actors.discord.addresses import WebhookAddress
from actors.discord.moves import Verdict
from routes.edge.outgoing_http import Answer, AnswerRefused, NotAnswered, NotSent, Upstream
from routes.edge.outgoing_json import NotUnderstood, decoded

SECONDS = 5.0
"""Deadline of one request."""

MAX_BYTES = 256 * 1024
"""Most bytes of an answer; a message with one embed has some kilobytes."""

LEAST_PAUSE_MS = 1_000
MOST_PAUSE_MS = 3_600_000
UNSAID_PAUSE_MS = 60_000
"""Pauses after a 429: the shortest, the longest, and the one for an answer that does not say how long."""

_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", re.ASCII)

_VERDICTS: dict[int, Verdict] = {
    401: Verdict.DENIED,
    403: Verdict.DENIED,
    404: Verdict.UNKNOWN,
    429: Verdict.LIMITED,
}


class _Webhook(msgspec.Struct, frozen=True):
    guild_id: str | None = None


class _Limited(msgspec.Struct, frozen=True):
    retry_after: float
    is_global: bool = msgspec.field(name="global", default=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a request to Discord.

    Args:
        verdict: whether Discord has taken the request, or why not.
        pause_ms: how long no request may be sent to the webhook.
        everywhere: whether the pause applies to all of Discord, not only to this webhook.
        guild_id: the guild that the webhook belongs to, if the request asked for it; else None.
    """

    verdict: Verdict
    pause_ms: int = 0
    everywhere: bool = False
    guild_id: str | None = None


class DiscordApi:
    """Sends requests to Discord, within its rate limits.

    Args:
        upstream: Discord's API.
        now_ms: returns the present time, epoch milliseconds.
    """

    def __init__(self, upstream: Upstream, now_ms: Callable[[], int]) -> None:
        self._upstream = upstream
        self._now_ms = now_ms
        self._halted_until_ms = 0

    @property
    def halted_ms(self) -> int:
        """For how many more milliseconds no request at all may be sent to Discord; 0 if requests may be sent."""
        return max(0, self._halted_until_ms - self._now_ms())

    async def look(self, webhook: WebhookAddress) -> Outcome:
        """Ask whether a webhook exists, and in which guild. Repeating or cancelling this does no harm.

        Returns:
            The outcome; its verdict is TAKEN only with a guild. Nothing is raised.
        """
        outcome, answer = await self._ask("GET", webhook)
        if outcome.verdict is not Verdict.TAKEN or answer is None:
            return outcome
        try:
            guild_id = decoded(answer.body, _Webhook).guild_id
        except NotUnderstood:
            return Outcome(Verdict.DOUBTFUL)
        return (
            Outcome(Verdict.DENIED)
            if guild_id is None
            else Outcome(Verdict.TAKEN, outcome.pause_ms, guild_id=guild_id)
        )

    async def post(self, webhook: WebhookAddress, message: bytes) -> Outcome:
        """Post a message, once. Cancellation: Discord may have received it.

        Args:
            message: the message as JSON.

        Returns:
            What is known of the outcome. Nothing is raised.
        """
        outcome, _ = await self._ask("POST", webhook, message)
        return outcome

    async def _ask(
        self, method: str, webhook: WebhookAddress, message: bytes | None = None
    ) -> tuple[Outcome, Answer | None]:
        if self.halted_ms:
            return Outcome(Verdict.LIMITED, self.halted_ms), None
        path = ("webhooks", webhook.id, webhook.token)
        headers = {"accept": "application/json", "content-type": "application/json"}
        # Without `wait`, Discord does not report failures.
        query = () if message is None else (("wait", "true"),)
        try:
            answer = await self._upstream.ask(method, path, query=query, headers=headers, body=message)
        except NotSent:
            return Outcome(Verdict.FAILED), None
        except (NotAnswered, AnswerRefused):
            return Outcome(Verdict.DOUBTFUL), None
        outcome = _outcome_of(answer)
        if outcome.everywhere:
            self._halted_until_ms = self._now_ms() + outcome.pause_ms
        return outcome, answer


def _outcome_of(answer: Answer) -> Outcome:
    if answer.status < 300:
        exhausted = answer.header("x-ratelimit-remaining") == "0"
        pause_ms = _pause_ms(answer.header("x-ratelimit-reset-after")) if exhausted else 0
        return Outcome(Verdict.TAKEN, pause_ms or 0)
    if answer.status >= 500:
        return Outcome(Verdict.FAILED)
    verdict = _VERDICTS.get(answer.status, Verdict.REFUSED)
    return _limited(answer) if verdict is Verdict.LIMITED else Outcome(verdict)


def _limited(answer: Answer) -> Outcome:
    """What a 429 applies to, and for how long. An answer that is not Discord's JSON comes from the network in front of
    it, which counts by IP address."""
    pause_ms = _pause_ms(answer.header("retry-after"))
    try:
        told = decoded(answer.body, _Limited)
    except NotUnderstood:
        everywhere = True
    else:
        everywhere = told.is_global or answer.header("x-ratelimit-global") is not None
        pause_ms = _bounded(told.retry_after)
    pause_ms = UNSAID_PAUSE_MS if pause_ms is None else max(pause_ms, LEAST_PAUSE_MS)
    return Outcome(Verdict.LIMITED, pause_ms, everywhere)


def _pause_ms(seconds: str | None) -> int | None:
    """A header's seconds; None where it is missing or no number."""
    return None if seconds is None or _SECONDS.fullmatch(seconds) is None else _bounded(float(seconds))


def _bounded(seconds: float) -> int:
    """Milliseconds, rounded up, so that the limit is over then."""
    return int(min(max(seconds, 0.0), MOST_PAUSE_MS / 1000) * 1000 + 0.999)
