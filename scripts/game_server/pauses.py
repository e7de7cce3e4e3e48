"""Pauses between attempts while Partyline does not answer: longer each time, and partly random, so that clients do not
come back all at once."""

import random
from collections.abc import Callable

import trio

from scripts.game_server.client import Away

FIRST_SECONDS = 0.5
"""Bound of the first pause; it doubles with each attempt."""


SPREAD = 0.25
"""How much longer than Partyline asks a pause may be, as a part of it, so that clients which were refused together come
back apart."""


def seconds_after(away: Away, seconds: float) -> float:
    """How many seconds to wait before the next attempt, partly random.

    Args:
        away: why there was no answer; has the least pause that Partyline asks for.
        seconds: bound of the pause, of which at least half is taken, unless Partyline asks for more.
    """
    asked = away.least_seconds * random.uniform(1.0, 1.0 + SPREAD)
    return max(asked, seconds * random.uniform(0.5, 1.0))


class Pauses:
    """The growing pauses of a client that tries again.

    Args:
        say: tells the person at the terminal why, once.
        most_seconds: longest pause in seconds, unless Partyline asks for more.
    """

    def __init__(self, say: Callable[[str], None], most_seconds: float) -> None:
        self._say = say
        self._most_seconds = most_seconds
        self._seconds, self._told = FIRST_SECONDS, ""

    async def after(self, away: Away) -> None:
        """Wait before the next attempt."""
        if str(away) != self._told:
            self._told = str(away)
            self._say(f"no answer ({away}); it tries again")
        await trio.sleep(seconds_after(away, self._seconds))
        self._seconds = min(2 * self._seconds, self._most_seconds)

    def end(self) -> None:
        """Begin anew with the shortest pause, after an answer."""
        self._seconds, self._told = FIRST_SECONDS, ""
