"""`scripts/bench --against REF`: the working tree beside another state of the code, so that 3 % can be seen; and
`scripts/bench --nodes N`: so many nodes beside one.

A machine that others use as well is slower or faster from one second to the next, by more than the differences that are
looked for. So all servers run at once, and short rounds alternate between them, while the other servers stand still.
Compared is the CPU time of servers in rounds that lie within two seconds of each other. The other state runs twice: a
difference as small as that between its two servers means nothing.

Servers, load and databases share one CPU, and leave the others to whom the machine belongs as well. So the load sends
what it may, then the server takes all of it, then the database: on two CPUs it depends on who is held up how many
messages a turn or a commit takes, and with it what one costs. Of several nodes only the load stands still, and so it is
with the one that they are compared with: nodes that stand still take each other for dead. They run on any CPU, as they
would: on a common one they give way to each other after each few requests, so that nothing is left of the batches that
one node works in.
"""

import signal
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import msgspec
import trio

from scripts.benchmarks.cases import Case
from scripts.benchmarks.contenders import Contender, contending
from scripts.benchmarks.ratios import Ratio, Round, compared
from scripts.benchmarks.servers import State, contended_cpu

SESSION_SECONDS = 900.0
"""Longest session: three servers with their users, the rounds, and the checks at the end."""


class TooSlow(Exception):
    """The machine is too busy to measure on; the message says how far it came."""


class Ended(Exception):
    """SIGTERM has come."""


@dataclass(frozen=True, slots=True)
class Turns:
    """How long a comparison measures.

    Args:
        sessions: how often all servers are started afresh, 1 to `ratios.MOST_SESSIONS`.
        rounds: how many rounds each session has, at least 1.
        seconds: how much CPU time each server has in a round.
    """

    sessions: int
    rounds: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two sides of a comparison.

    Args:
        code: the root of a checkout.
        processes: how many nodes of it serve as one.
    """

    code: Path
    processes: int = 1


class Comparison(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the two sides differ by in one case.

    Args:
        case: the name of the case.
        sessions: what a unit cost in each round of each session.
        new: the cost at the working tree, or of several nodes, ÷ that at the other side.
        control: the ratio of the other side to itself.
        fault: a line about what clients saw wrongly; empty for nothing.
    """

    case: str
    sessions: list[list[Round]]
    new: Ratio
    control: Ratio
    fault: str = ""


async def compare(
    case: Case, new: Side, old: Side, turns: Turns, told: Callable[[list[Round]], None]
) -> Comparison:
    """Compare two sides in one case.

    Args:
        case: a case whose unit is one of `contenders.UNITS`.
        new, old: the sides that are compared.
        turns: how long to measure.
        told: called with the rounds of each session as it ends.

    Raises:
        TooSlow: a session took longer than a quarter of an hour.
        Ended: SIGTERM has come; no process is left standing still.
        NotServing, NotShared, WorkerFailed: see `measure.bench`. Cancellation ends the servers and their load.
    """
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_end_by_signal)
        comparison = await _compare(case, new, old, turns, told)
        nursery.cancel_scope.cancel()
    return comparison


async def _end_by_signal() -> None:
    with trio.open_signal_receiver(signal.SIGTERM) as signals:
        async for _ in signals:
            raise Ended("ended by SIGTERM")


async def _compare(
    case: Case, new: Side, old: Side, turns: Turns, told: Callable[[list[Round]], None]
) -> Comparison:
    sessions: list[list[Round]] = []
    faults: list[str] = []
    freezes = new.processes == old.processes == 1
    for number in range(turns.sessions):
        states = [
            State(side.code, number, contended_cpu() if freezes else None, side.processes, freezes)
            for side in (new, old, old)
        ]
        with trio.move_on_after(SESSION_SECONDS) as limit:
            rounds, fault = await _session(case, states, turns)
        if limit.cancelled_caught:
            raise TooSlow(f"session {number + 1} of {case.name} took longer than {SESSION_SECONDS:.0f} s")
        sessions.append(rounds)
        faults += [fault] * bool(fault)
        told(rounds)
    ratio, control = compared(sessions)
    return Comparison(
        case=case.name, sessions=sessions, new=ratio, control=control, fault="; ".join(faults[:1])
    )


async def _session(case: Case, states: Sequence[State], turns: Turns) -> tuple[list[Round], str]:
    count = 1 if case.unit == "socket" else turns.rounds
    async with AsyncExitStack() as stack:
        contenders = [await stack.enter_async_context(contending(case, state)) for state in states]
        for one in contenders:
            await one.open(count)
            one.stand_still()
        rounds = [await _round(contenders, number, turns.seconds) for number in range(count)]
        faults = []
        for one in contenders:
            one.go_on()
            faults.append(await one.fault())
    return rounds, next(filter(None, faults), "")


async def _round(contenders: Sequence[Contender], number: int, seconds: float) -> Round:
    """Let each contender have the machine once; the first one and the direction change from round to round."""
    first = number % len(contenders)
    order = [*range(first, len(contenders)), *range(first)]
    costs = [0.0] * len(contenders)
    for index in order if number % 2 else reversed(order):
        one = contenders[index]
        one.go_on()
        costs[index] = await one.round(number, seconds)
        one.stand_still()
    return Round(*costs)
