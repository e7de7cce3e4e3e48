"""What an answer of Discord means for a webhook, and for the post that it answers. Pure.

| `webhookStatus` | WELL   | BUSY        | SILENT      | SILENT_LONG | GONE | DENIED  |
|-----------------|--------|-------------|-------------|-------------|------|---------|
| active          | active | active      | active      | unreachable | gone | invalid |
| unreachable     | active | unreachable | unreachable | unreachable | gone | invalid |

`none`, `gone` and `invalid` have no token, so nothing is sent; only the network's owner moves them (`units.put`).
An `unreachable` webhook is asked with GET, which does no harm however often it is repeated, and posts wait until it
answers.

| verdict  | when                                             | the sign    | the post |
|----------|--------------------------------------------------|-------------|----------|
| TAKEN    | 2xx                                              | WELL        | gone     |
| REFUSED  | 400 and other 4xx                                | WELL        | gone     |
| LIMITED  | 429                                              | BUSY        | waits    |
| FAILED   | no byte was sent, or 5xx                         | SILENT…     | again, `MAX_ATTEMPTS` times |
| DOUBTFUL | bytes were sent, and no answer that can be used  | SILENT…     | gone: Discord may have it |
| UNKNOWN  | 404                                              | GONE        | gone, with all that wait |
| DENIED   | 401, 403, another guild, a token sealed elsewhere | DENIED      | gone, with all that wait |
"""

from enum import Enum

from msgspec.structs import replace

from persistence.discord.rows import WebhookRow, WebhookStatus

UNREACHABLE_AFTER_MS = 30 * 60_000
"""How long Discord may be silent before the webhook counts as unreachable."""

FIRST_PAUSE_MS = 5_000
LAST_PAUSE_MS = 3_600_000
"""The first pause after a failure, and the longest; each is twice as long as the one before."""

MAX_ATTEMPTS = 10
"""How often a post is tried before it is dropped."""

KEPT_MS = 24 * 3_600_000
"""How long a post waits before it is dropped as old."""


class Verdict(Enum):
    """The outcome of one request to Discord, by the module's second table."""

    TAKEN = "taken"
    REFUSED = "refused"
    LIMITED = "limited"
    FAILED = "failed"
    DOUBTFUL = "doubtful"
    UNKNOWN = "unknown"
    DENIED = "denied"


class Sign(Enum):
    """What a verdict says of the webhook."""

    WELL = "well"
    BUSY = "busy"
    SILENT = "silent"
    SILENT_LONG = "silent for long"
    GONE = "gone"
    DENIED = "denied"


SIGNS: dict[Verdict, Sign] = {
    Verdict.TAKEN: Sign.WELL,
    Verdict.REFUSED: Sign.WELL,
    Verdict.LIMITED: Sign.BUSY,
    Verdict.FAILED: Sign.SILENT,
    Verdict.DOUBTFUL: Sign.SILENT,
    Verdict.UNKNOWN: Sign.GONE,
    Verdict.DENIED: Sign.DENIED,
}
"""{verdict: what it says of the webhook}; `SILENT` becomes `SILENT_LONG` after `UNREACHABLE_AFTER_MS`."""

MOVES: dict[tuple[WebhookStatus, Sign], WebhookStatus] = {
    ("active", Sign.WELL): "active",
    ("active", Sign.BUSY): "active",
    ("active", Sign.SILENT): "active",
    ("active", Sign.SILENT_LONG): "unreachable",
    ("active", Sign.GONE): "gone",
    ("active", Sign.DENIED): "invalid",
    ("unreachable", Sign.WELL): "active",
    ("unreachable", Sign.BUSY): "unreachable",
    ("unreachable", Sign.SILENT): "unreachable",
    ("unreachable", Sign.SILENT_LONG): "unreachable",
    ("unreachable", Sign.GONE): "gone",
    ("unreachable", Sign.DENIED): "invalid",
}
"""{(status before, sign): status afterwards}."""

USABLE: frozenset[WebhookStatus] = frozenset({"active", "unreachable"})
"""The statuses of webhooks to which requests may be sent."""


def after(row: WebhookRow, verdict: Verdict, pause_ms: int, now_ms: int) -> WebhookRow:
    """The webhook after a request.

    Args:
        row: the webhook before the request, `active` or `unreachable`.
        verdict: the outcome of the request.
        pause_ms: for how many milliseconds Discord wants no more requests.
        now_ms: epoch milliseconds.
    """
    sign = SIGNS[verdict]
    failures, since_ms = row.failures, row.failing_since_ms
    if sign is Sign.SILENT:
        failures, since_ms = failures + 1, now_ms if since_ms is None else since_ms
        pause_ms = max(pause_ms, backoff_ms(failures))
        sign = Sign.SILENT_LONG if now_ms - since_ms >= UNREACHABLE_AFTER_MS else sign
    elif sign is not Sign.BUSY:
        failures, since_ms = 0, None
    status = MOVES[row.webhook_status, sign]
    return replace(
        row,
        webhook_status=status,
        sealed_token=row.sealed_token if status in USABLE else None,
        failures=failures,
        failing_since_ms=since_ms,
        due_at_ms=now_ms + pause_ms,
    )


def attempts_after(attempts: int, verdict: Verdict) -> int | None:
    """How often a post has failed after another request; None where it is not sent again.

    Args:
        attempts: how often it had failed before.
    """
    match verdict:
        case Verdict.LIMITED:
            return attempts
        case Verdict.FAILED if attempts + 1 < MAX_ATTEMPTS:
            return attempts + 1
        case _:
            return None


def backoff_ms(failures: int) -> int:
    """The pause in milliseconds after `failures` failures in a row, 1 or more."""
    return min(LAST_PAUSE_MS, FIRST_PAUSE_MS << min(failures - 1, 16))
