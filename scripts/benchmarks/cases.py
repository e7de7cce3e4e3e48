"""The cases: loads, the servers that they run on, and the goals.

A case is a plan for the load and a unit. What counts is the *cost* of a unit: the server's CPU time as a rule,
memory for idle sockets. Rates say as much about the load, which shares its CPU with PostgreSQL.
"""

from dataclasses import dataclass, replace
from typing import Literal

from scripts.benchmarks.servers import Name
from scripts.load.plan import Plan

Unit = Literal["delivery", "message", "request", "opening", "socket", "p99"]
COSTS: dict[Unit, str] = {
    "delivery": "CPU µs a delivery",
    "message": "CPU µs a message",
    "request": "CPU µs a request",
    "opening": "CPU µs a socket",
    "socket": "KB of memory a socket",
    "p99": "p99 beside the fan-out ÷ p99 alone",
}
LIST_LENGTH = 60  # messages in the conversation of the case `list`, which asks for 50

OURS: tuple[Name, ...] = ("lean", "stock")
"""Our own servers: the lean one and stock Hypercorn."""
_ALL: tuple[Name, ...] = (*OURS, "node")


@dataclass(frozen=True, slots=True)
class Goal:
    """The goals for our lean server; None where there is no goal.

    Args:
        cost: most that a unit may cost.
        rate: least units a second.
        times_node: the cost of the Node server is at least so many times ours.
        last_p99_ms: in 99 of 100 messages the last delivery comes within so many milliseconds.
    """

    cost: float | None = None
    rate: float | None = None
    times_node: float | None = None
    last_p99_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One workload.

    Args:
        name: the name that `--only` takes.
        title: the title that the tables show.
        unit: what is counted, such as deliveries.
        options: fields of the load's plan, {name: value}.
        goal: the goals for our lean server.
        servers: the servers on which it is run.
        messages: how many messages are posted into the first conversation beforehand.
        background: fields of a second plan, whose load goes on while the first is measured again.
        times_one_node: the goal for several nodes: a unit costs at most so many times what it costs on one node; None
            where several nodes are measured only if asked for.
    """

    name: str
    title: str
    unit: Unit
    options: dict[str, object]
    goal: Goal = Goal()
    servers: tuple[Name, ...] = _ALL
    messages: int = 0
    background: dict[str, object] | None = None
    times_one_node: float | None = None


def fanout(subscribers: int, senders: int) -> dict[str, object]:
    """The plan of a group whose members all listen, while some of them write."""
    return {
        "users": subscribers,
        "conversations": 1,
        "members": subscribers,
        "senders": senders,
        "live": subscribers,
        "window": senders,
    }


def rest(kind: str, connections: int = 64) -> dict[str, object]:
    """The plan of one kind of request, again and again."""
    return {
        "traffic": "rest",
        "rest": kind,
        "users": 64,
        "conversations": 1,
        "members": 64,
        "senders": 64,
        "live": 0,
        "connections": connections,
    }


def pairs(users: int) -> dict[str, object]:
    """The plan of conversations of two, in which both listen and write."""
    return {"users": users, "conversations": users // 2, "members": 2, "senders": users, "live": users}


CASES = (
    Case(
        "fanout-1000",
        "fan-out to 1,000, one sender",
        "delivery",
        fanout(1000, 1),
        Goal(cost=5, rate=200_000, times_node=1.3, last_p99_ms=12),
        (*_ALL, "c"),
        times_one_node=1.1,
    ),
    Case(
        "fanout-1000-s8",
        "fan-out to 1,000, eight senders",
        "delivery",
        fanout(1000, 8),
        Goal(rate=400_000, times_node=2.5, last_p99_ms=50),
        (*_ALL, "c", "c-joined"),
    ),
    Case(
        "fanout-100",
        "fan-out to 100, one sender",
        "delivery",
        fanout(100, 1),
        Goal(rate=150_000, times_node=1.15, last_p99_ms=12),
        (*_ALL, "c"),
    ),
    Case(
        "rooms",
        "1,000 rooms of two, 64 in flight",
        "message",
        {**pairs(2000), "window": 64},
        Goal(cost=50, rate=15_000, times_node=1.1),
        times_one_node=1.25,
    ),
    Case(
        "post",
        "REST, post a message",
        "request",
        rest("post"),
        Goal(rate=16_000, times_node=1.0),
        times_one_node=1.25,
    ),
    Case(
        "list",
        "REST, list 50 messages",
        "request",
        rest("list"),
        Goal(rate=15_000, times_node=2.5),
        messages=LIST_LENGTH,
    ),
    Case("self", "REST, own profile", "request", rest("self"), Goal(rate=25_000, times_node=1.2)),
    Case(
        "open",
        "opening sockets, a conversation and six friends each",
        "opening",
        {**pairs(1200), "traffic": "idle", "friends": 6},
    ),
    Case(
        "idle",
        "idle sockets, a conversation and six friends each",
        "socket",
        {**pairs(5000), "traffic": "idle", "friends": 6},
        Goal(cost=8, times_node=1 / 0.75),
        times_one_node=1.05,
    ),
    Case(
        "beside",
        "REST beside 30,000 deliveries/s",
        "p99",
        rest("self", connections=16),
        Goal(cost=2),
        background={**fanout(1000, 1), "rate": 30.0},
    ),
)


def smaller(case: Case) -> Case:
    """The same case at a small size, for a run that only shows that it works."""
    background = None if case.background is None else _fewer(case.background)
    return replace(case, options=_fewer(case.options), background=background)


def _fewer(options: dict[str, object]) -> dict[str, object]:
    most = {"users": 200, "conversations": 100, "members": 200, "senders": 200, "live": 200}
    return {
        name: min(value, most[name]) if name in most and isinstance(value, int) else value
        for name, value in options.items()
    }


def plan(options: dict[str, object], port: int, run: str) -> Plan:
    """The plan of these options against a server on this machine."""
    fields: dict[str, object] = {
        **options,
        "host": f"127.0.0.1:{port}",
        "address": ("127.0.0.1", port),
        "prefix": "bench",
        "run": run,
    }
    return Plan(**fields)  # type: ignore[arg-type]  # every field is one of the plan's; tested
