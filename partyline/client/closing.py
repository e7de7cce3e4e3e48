"""What the end of a connection asks for (docs/errors.md, close codes)."""

from typing import NamedTuple

from partyline.client.problem import Document, Problem

ABNORMAL = 1006
"""The code of a connection that ended without one (RFC 6455, 7.4.1)."""

LATER_SECONDS = 10.0


class Duty(NamedTuple):
    """What is to be done.

    Args:
        least_seconds: before the next try, at least.
        exact_seconds: before the next try, as the service says it; 0 where it says nothing.
        renews: the token must be renewed first.
        stops: no try any more, and why; None otherwise.
    """

    least_seconds: float = 0.0
    exact_seconds: float = 0.0
    renews: bool = False
    stops: Problem | None = None


_NEVER = Duty(stops=Problem(Document("PROTOCOL", "the service refused what was said")))
_DUTIES = {
    1002: _NEVER,
    1007: _NEVER,
    1011: Duty(least_seconds=LATER_SECONDS),
    4400: _NEVER,
    4401: Duty(renews=True),
    4403: _NEVER,
    4413: _NEVER,
    4429: Duty(least_seconds=LATER_SECONDS),
}


def duty_after(code: int) -> Duty:
    """What a close code asks for; those that are not listed, to come back.

    Args:
        code: of the close frame, or `ABNORMAL`.
    """
    return _DUTIES.get(code, Duty())
