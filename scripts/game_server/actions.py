"""What the agent can do: one function a command, the whole table at the end."""

from collections.abc import Awaitable, Callable
from typing import Any

import trio

Progress = Callable[[float], Awaitable[None]]
"""Says how far a command is, 0 to 100."""

Say = Callable[[str], None]


class Failed(Exception):
    """The command was understood, and could not be done."""


async def echo(payload: dict[str, Any], progress: Progress, say: Say) -> Any:  # noqa: ARG001
    """Answer the payload."""
    return payload


async def speak(payload: dict[str, Any], progress: Progress, say: Say) -> Any:  # noqa: ARG001
    """Print a text."""
    say(f"says: {payload.get('text', '')}")
    return {"said": True}


async def count(payload: dict[str, Any], progress: Progress, say: Say) -> Any:  # noqa: ARG001
    """Count, a tenth of a second each, and say how far it is."""
    last = payload.get("to")
    if not isinstance(last, int) or not 1 <= last <= 100:
        raise Failed("`to` is a whole number from 1 to 100")
    for number in range(1, last + 1):
        await trio.sleep(0.1)
        await progress(100 * number / last)
    return {"counted": last}


async def fail(payload: dict[str, Any], progress: Progress, say: Say) -> Any:  # noqa: ARG001
    """Fail."""
    raise Failed(str(payload.get("error", "as asked")))


ACTIONS: dict[str, Callable[[dict[str, Any], Progress, Say], Awaitable[Any]]] = {
    "echo": echo,
    "say": speak,
    "count": count,
    "fail": fail,
}
