"""Pauses between attempts, where Partyline does not answer: longer each time, and by chance, so that none meet."""

import random
from collections.abc import Callable

import trio

from scripts.game_server.client import Away

FIRST_SECONDS = 0.5
"""Until the next attempt; it doubles."""


SPREAD = 0.25
"""By how much of what Partyline asks for a pause may be longer, so that who were refused at once come back apart."""


def seconds_after(away: Away, seconds: float) -> float:
    """How long to wait before the next attempt, by chance.

    Args:
        seconds: at most, unless Partyline has asked for more.
    """
    asked = away.least_seconds * random.uniform(1.0, 1.0 + SPREAD)
    return max(asked, seconds * random.uniform(0.5, 1.0))


class Pauses:
    """The pauses of one who tries again.

    Args:
        say: tells the person at the terminal why, once.
        most_seconds: of one pause, unless Partyline asks for more.
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
        """There was an answer."""
        self._seconds, self._told = FIRST_SECONDS, ""
