"""The run queue: one task takes the turns of all actors of the system.

An idle actor has no task, and a turn is a few synchronous steps: decide, submit to the writer, settle. Whatever makes
the next step possible (a letter, rows that were read, the outcome of a commit) puts the activation in this queue. So
a turn costs a place in a queue instead of two switches between tasks, and a live actor costs no more memory than its
state; a task is started only to load, to read rows, and to save a snapshot.

Invariant: a step never waits, and a fault in it ends that one activation.
"""

from collections import deque
from typing import Protocol

import trio

from actors.kernel.clock import Clock
from actors.kernel.one_shot import OneShot
from actors.kernel.supervisor import Named, attempt

# Steps between two checkpoints: some 0.5 ms, so that a batch of a thousand commits does not hold up the rest.
STEPS_A_SLICE = 16

# Of steps that take long, no more are taken between two checkpoints. By the injected clock, as turns are cut
# (`activation.py`).
SLICE_MS = 10


class Stepping(Protocol):
    """An activation, as the queue sees it."""

    @property
    def kind(self) -> Named:
        """The kind of its actor."""
        ...

    @property
    def id(self) -> str:
        """The id of its actor."""
        ...

    def step(self) -> None:
        """Do what can be done now, without waiting."""
        ...

    def fail(self, fault: Exception, /) -> None:
        """End the activation, because a step raised `fault`."""
        ...


class Scheduler:
    """The queue of activations that can take a step, and the task that empties it.

    Args:
        clock: says how long steps take.
    """

    __slots__ = ("_clock", "_ready", "_sleeping")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ready: deque[Stepping] = deque()
        self._sleeping: OneShot[None] | None = None

    def ready(self, activation: Stepping) -> None:
        """Enqueue an activation for one step. The activation itself makes sure that it is enqueued once."""
        self._ready.append(activation)
        if self._sleeping is not None:
            self._sleeping.wake(None)
            self._sleeping = None

    async def run(self) -> None:
        """Let enqueued activations take their steps, in order, until cancelled. Cancellation never splits a step."""
        while True:
            if self._ready:
                await trio.lowlevel.checkpoint()
            else:
                self._sleeping = OneShot()
                await self._sleeping.wait()
            until_ms = self._clock.now_ms() + SLICE_MS
            for _ in range(min(len(self._ready), STEPS_A_SLICE)):
                activation = self._ready.popleft()
                fault = attempt("taking a turn", activation.kind.name, activation.id, activation.step)
                if fault is not None:
                    activation.fail(fault)
                if self._clock.now_ms() >= until_ms:
                    break
