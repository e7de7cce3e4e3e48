"""What is measured: each case is a plan, a unit, and how many intervals."""

from dataclasses import dataclass
from typing import Literal

from scripts.load.plan import Plan

Unit = Literal["deliveries", "messages", "requests", "sockets"]
LIST_LENGTH = 60  # messages that are there for `list`, which asks for 50


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the table.

    Args:
        name: as `--only` takes it.
        title: as the table shows it.
        unit: what is counted.
        options: fields of the plan.
        messages: so many are posted into the first conversation beforehand.
    """

    name: str
    title: str
    unit: Unit
    options: dict[str, object]
    messages: int = 0


def _fanout(subscribers: int, senders: int, window: int) -> dict[str, object]:
    return {
        "users": subscribers,
        "conversations": 1,
        "members": subscribers,
        "senders": senders,
        "live": subscribers,
        "window": window,
    }


def _rest(kind: str) -> dict[str, object]:
    return {
        "traffic": "rest",
        "rest": kind,
        "users": 64,
        "conversations": 1,
        "members": 64,
        "senders": 64,
        "live": 0,
        "connections": 64,
    }


CASES = (
    Case("fanout-1000", "fan-out to 1,000, one sender", "deliveries", _fanout(1000, 1, 1)),
    Case("fanout-1000-s8", "fan-out to 1,000, eight senders", "deliveries", _fanout(1000, 8, 8)),
    Case("fanout-100", "fan-out to 100, one sender", "deliveries", _fanout(100, 1, 1)),
    Case("fanout-100-s8", "fan-out to 100, eight senders", "deliveries", _fanout(100, 8, 8)),
    Case(
        "rooms",
        "1,000 rooms of two, 64 in flight",
        "messages",
        {"users": 2000, "conversations": 1000, "members": 2, "senders": 2000, "live": 2000, "window": 64},
    ),
    Case("health", "REST, /health", "requests", _rest("health")),
    Case("self", "REST, own profile", "requests", _rest("self")),
    Case("list", "REST, list 50 messages", "requests", _rest("list"), messages=LIST_LENGTH),
    Case("post", "REST, post a message", "requests", _rest("post")),
    Case("idle", "idle live sockets", "sockets", {"traffic": "idle", "users": 5000}),
)


def smaller(case: Case) -> Case:
    """The case in small, for a run that only shows that it works."""
    options = dict(case.options)
    for name, most in (("users", 200), ("conversations", 100), ("senders", 200), ("live", 200)):
        value = options.get(name)
        if isinstance(value, int):
            options[name] = min(value, most)
    members = options.get("members")
    if isinstance(members, int) and members > 200:
        options["members"] = 200
    return Case(case.name, case.title, case.unit, options, case.messages)


def plan(case: Case, port: int, run: str) -> Plan:
    """The plan of a case against our own server."""
    fields: dict[str, object] = {
        **case.options,
        "host": f"127.0.0.1:{port}",
        "address": ("127.0.0.1", port),
        "prefix": "bench",
        "run": run,
    }
    return Plan(**fields)  # type: ignore[arg-type]  # checked by `check`, and by every run
