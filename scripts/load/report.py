"""The output of a run: a line a second while it runs, a table or one JSON object at the end."""

from collections import Counter

import msgspec

from scripts.load.histogram import Histogram
from scripts.load.plan import FLEETS, Plan
from scripts.load.run import Interval, Outcome

_QUANTILES = (0.50, 0.95, 0.99)
_BUSY = 0.9
"""The share of a core from which on a worker is too busy to measure the server rather than itself."""


class Latency(msgspec.Struct, frozen=True, rename="camel"):
    """Quantiles in milliseconds; null when nothing was counted."""

    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None


class Memory(msgspec.Struct, frozen=True, rename="camel"):
    """Resident memory of the server (PostgreSQL not counted), before the sockets and at the end, bytes."""

    pid: int
    before_bytes: int
    after_bytes: int


WORDS = {
    "chat": ("messages", "deliveries"),
    "friends": ("changes", "seen"),
    "parties": ("writes", "frames"),
    "commands": ("commands", "deliveries"),
    "agents": ("statuses", "checks"),
}
"""{traffic: (word for what was sent, word for what came of it)}; in JSON the counts have the same names for all
traffic."""


class Report(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The results of a run, as `--json` prints them.

    Args:
        messages: messages that were sent and acknowledged; or changes of presence, writes to parties, commands that
            agents have acknowledged, or statuses of agents.
        deliveries: deliveries of messages or commands; or changes seen by friends, frames that showed a write to a
            member, or sums of networks that were looked at.
        unsent: messages that were due in the open loop and could not be sent: too many were in flight, or the socket
            was lost.
        server_cores: CPU time of the server (PostgreSQL not counted) by time; null when it cannot be seen.
        load_cores: CPU time of the workers by time; near to `processes`, it was they who were measured.
        lost_sockets: how many of the sockets were not open any more in the end.
        reconnects: how often a socket was lost and opened again.
        exact: whether of what was acknowledged nothing is missing, repeated or out of order.
        well: whether the run is exact, something was measured, and no socket was lost, not even one that is open again.
            Refusals count in `errors` alone: above its rate a server is to refuse.
    """

    traffic: str
    users: int
    conversations: int
    members: int
    friends: int
    sockets: int
    window: int
    rate: float
    seconds: float
    messages: int
    messages_per_second: float
    deliveries: int
    deliveries_per_second: float
    acknowledged: Latency
    delivered: Latency
    errors: dict[str, int]
    unsent: int
    memory: Memory | None
    server_cores: float | None
    load_cores: float
    processes: int
    lost_sockets: int
    reconnects: int
    subscriptions: int
    expected: int
    missing: int
    repeated: int
    disordered: int
    skipped: int
    exact: bool
    well: bool
    examples: list[str]


def latency(histogram: Histogram) -> Latency:
    """The three quantiles of a histogram."""
    p50, p95, p99 = (histogram.quantile_ms(share) for share in _QUANTILES)
    return Latency(p50, p95, p99)


def report(plan: Plan, outcome: Outcome, memory: Memory | None) -> Report:
    """The results of a run of one interval."""
    seen, verdict = outcome.intervals[0], outcome.verdict
    seconds = seen.seconds or 1.0  # nothing is measured in no time
    return Report(
        traffic=plan.traffic,
        users=plan.users,
        conversations=plan.conversations,
        members=plan.members,
        friends=plan.friends,
        sockets=outcome.sockets,
        window=0 if plan.rate else plan.window,
        rate=plan.rate,
        seconds=round(seen.seconds, 3),
        messages=seen.acknowledged,
        messages_per_second=round(seen.acknowledged / seconds, 1),
        deliveries=seen.delivered,
        deliveries_per_second=round(seen.delivered / seconds, 1),
        acknowledged=latency(seen.acknowledgement),
        delivered=latency(seen.delivery),
        errors=dict(seen.errors),
        unsent=seen.unsent,
        memory=memory,
        server_cores=round(seen.cpu_ns / 1e9 / seconds, 3) if seen.cpu_ns else None,
        load_cores=round(seen.load_cpu_ns / 1e9 / seconds, 3),
        processes=plan.processes,
        lost_sockets=outcome.lost_sockets,
        reconnects=outcome.reconnects,
        subscriptions=verdict.subscriptions,
        expected=verdict.expected,
        missing=verdict.missing,
        repeated=verdict.repeated,
        disordered=verdict.disordered,
        skipped=verdict.skipped,
        exact=verdict.exact,
        well=verdict.exact and seen.acknowledged > 0 and not outcome.lost_sockets and not outcome.reconnects,
        examples=verdict.examples,
    )


def progress_line(traffic: str, second: int, seen: Interval) -> str:
    """The line about one second of the run."""
    sent, came = WORDS[traffic]
    what, shown = ("ack", seen.acknowledgement) if traffic == "chat" else (came, seen.delivery)
    row = latency(shown)
    errors = sum(seen.errors.values())
    return (
        f"{second:4d} s  {seen.acknowledged / seen.seconds:8,.0f} {sent}/s"
        f"  {seen.delivered / seen.seconds:9,.0f} {came}/s"
        f"  {what} p50 {_ms(row.p50_ms)} p99 {_ms(row.p99_ms)}"
        f"  in flight {seen.in_flight:,}  errors {errors:,}"
    )


def table(it: Report) -> str:
    """The results of a run as a table, for a human."""
    sent, came = WORDS[it.traffic]
    lines = [
        _what(it),
        f"{sent:<14}{it.messages_per_second:10,.0f} /s   {it.messages:12,} in all",
        f"{came:<14}{it.deliveries_per_second:10,.0f} /s   {it.deliveries:12,} in all",
        "                     p50          p95          p99",
    ]
    for name, row in (("acknowledged", it.acknowledged), ("delivered", it.delivered)):
        if row.p50_ms is not None:
            lines.append(f"{name:<14}{_row(row)}")
    lines.append(f"errors        {_errors(it.errors)}")
    if it.server_cores is not None:
        lines.append(f"server        {it.server_cores:.2f} cores (PostgreSQL not counted)")
    if it.load_cores >= _BUSY * it.processes:
        lines.append(
            f"load          {it.load_cores:.2f} cores of {it.processes}: the load test may be what was measured"
        )
    if it.unsent:
        lines.append(f"unsent        {it.unsent:,}: {_why_unsent(it)}; the server did not keep this rate")
    if it.lost_sockets:
        lines.append(
            f"lost          {it.lost_sockets:,} of {it.sockets:,} sockets, which could not be opened again"
        )
    if it.reconnects:
        lines.append(f"reconnects    {it.reconnects:,}: sockets that were lost and are open again")
    if not it.messages:
        lines.append("nothing was acknowledged, so nothing was measured")
    if it.memory:
        after, before = it.memory.after_bytes / 1e6, it.memory.before_bytes / 1e6
        each = f", {(after - before) * 1e3 / it.sockets:,.1f} KB a socket" if it.sockets else ""
        lines.append(
            f"memory        {after:,.0f} MB, {before:,.0f} MB before (server process {it.memory.pid}){each}"
        )
    lines.append(f"exact         {_exact(it)}")
    return "\n".join(lines + [f"              {line}" for line in it.examples])


def _why_unsent(it: Report) -> str:
    lost = it.lost_sockets or it.reconnects
    return "their sockets were lost, or too many in flight" if lost else "too many were in flight"


def _what(it: Report) -> str:
    pace = f"{it.rate:,.0f} {WORDS[it.traffic][0]}/s offered" if it.rate else f"{it.window:,} in flight"
    where = f"{it.conversations:,} conversations of {it.members:,}"
    if it.traffic == "friends":
        where = f"{it.friends:,} friends each"
    elif it.traffic in FLEETS:
        return f"{it.users:,} agents in {it.conversations:,} networks, {pace}, {it.seconds:.1f} s"
    elif it.traffic == "parties":
        where, pace = (
            f"{it.conversations:,} parties of {it.members:,}",
            "a selection and a ready a second each",
        )
    return f"{it.users:,} users, {where}, {it.sockets:,} sockets, {pace}, {it.seconds:.1f} s"


def _exact(it: Report) -> str:
    if not it.subscriptions:
        return "nothing was subscribed, so nothing was checked"
    if it.exact and it.traffic != "chat":
        return f"{it.subscriptions:,} sockets: nothing out of order, and in the end nothing missing of {it.expected:,}"
    if it.exact and not it.skipped:
        return f"{it.subscriptions:,} subscriptions had all {it.expected:,} messages, each once and in order"
    if it.exact:
        return (
            f"{it.subscriptions:,} subscriptions had {it.expected - it.skipped:,} of {it.expected:,} "
            f"messages, each once and in order; snapshots stood for {it.skipped:,}"
        )
    return f"NO: {it.missing:,} missing, {it.repeated:,} repeated, {it.disordered:,} out of order"


def _errors(errors: dict[str, int]) -> str:
    return ", ".join(f"{code} {count:,}" for code, count in Counter(errors).most_common()) or "none"


def _row(it: Latency) -> str:
    return "".join(f"{_ms(value):>10} ms" for value in (it.p50_ms, it.p95_ms, it.p99_ms))


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"
