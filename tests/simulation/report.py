"""What came of a run, and the faults that may be planted in one: the same for one node and for several."""

from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from unittest.mock import patch


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a run.

    Args:
        wrong: what must not be; nothing, if all is well.
        trace: what happened, in order.
        healed: (what was done to nodes, seconds until everything was served again).
    """

    seed: int
    wrong: tuple[str, ...]
    trace: tuple[tuple[Any, ...], ...]
    healed: tuple[tuple[str, float], ...] = ()

    @property
    def digest(self) -> str:
        """The same for the same history."""
        return sha256(repr((self.wrong, self.trace)).encode()).hexdigest()

    def __str__(self) -> str:
        lines = [" ".join(map(str, facts)) for facts in self.trace]
        return "\n".join([f"seed {self.seed}", *lines, *(f"WRONG {one}" for one in self.wrong)])


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """What stands in place of the right code.

    Args:
        name: what goes wrong.
        patches: (module or class, name, what stands in its place) while the run lasts.
        first: the seed to begin with, so that a fault that shows seldom is found soon.
    """

    name: str = "none"
    patches: tuple[tuple[Any, str, Any], ...] = ()
    first: int = 0

    def planted(self) -> ExitStack:
        """The fault is there while the block runs."""
        stack = ExitStack()
        for target, name, replacement in self.patches:
            stack.enter_context(patch.object(target, name, replacement))
        return stack
