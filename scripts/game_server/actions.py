"""The actions of the agent: one function for each kind of command, and the table of them at the end.

An action is cancelled when it has taken longer than `--action-seconds`.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import trio

Progress = Callable[[float], Awaitable[None]]
"""Tells Partyline how far a command is, in percent, 0 to 100."""

Say = Callable[[str], None]


class Failed(Exception):
    """The command was understood, but could not be done."""


async def echo(payload: dict[str, Any], progress: Progress, say: Say) -> Any:  # noqa: ARG001
    """Return the payload as the result."""
    return payload


async def speak(payload: dict[str, Any], progress: Progress, say: Say) -> Any:  # noqa: ARG001
    """Print a text."""
    say(f"says: {payload.get('text', '')}")
    return {"said": True}


async def count(payload: dict[str, Any], progress: Progress, say: Say) -> Any:  # noqa: ARG001
    """Count, a tenth of a second for each number, and tell the progress."""
    last = payload.get("to")
    if not isinstance(last, int) or not 1 <= last <= 100:
        raise Failed("`to` is a whole number from 1 to 100")
    for number in range(1, last + 1):
        await trio.sleep(0.1)
        await progress(100 * number / last)
    return {"counted": last}


async def fail(payload: dict[str, Any], progress: Progress, say: Say) -> Any:  # noqa: ARG001
    """Fail always, to show how that looks."""
    raise Failed(str(payload.get("error", "as asked")))


ACTIONS: dict[str, Callable[[dict[str, Any], Progress, Say], Awaitable[Any]]] = {
    "echo": echo,
    "say": speak,
    "count": count,
    "fail": fail,
}
