"""What the end of a connection asks for (docs/errors.md, close codes)."""

from typing import NamedTuple

from partyline.client.problem import Document, Problem

ABNORMAL = 1006
"""The close code of a connection that ended without a close frame (RFC 6455, 7.4.1)."""

LATER_SECONDS = 10.0


class Duty(NamedTuple):
    """What the client has to do after a connection has ended.

    Args:
        least_seconds: least pause before the next try.
        exact_seconds: the pause before the next try, as the service says it; 0 where it says nothing.
        renews: the token must be renewed first.
        stops: why there is to be no further try; None where there is to be one.
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
    """What a close code asks for; one that is not listed asks the client to come back.

    Args:
        code: the code of the close frame, or `ABNORMAL`.
    """
    return _DUTIES.get(code, Duty())
