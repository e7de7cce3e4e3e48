"""What a run shows: a line a second while it runs, a table or one JSON object at the end."""

from collections import Counter

import msgspec

from scripts.load.histogram import Histogram
from scripts.load.plan import Plan
from scripts.load.run import Interval, Outcome

_QUANTILES = (0.50, 0.95, 0.99)


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


class Report(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Everything about a run, as `--json` prints it."""

    users: int
    conversations: int
    members: int
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
    subscriptions: int
    expected: int
    missing: int
    repeated: int
    disordered: int
    skipped: int
    exact: bool
    examples: list[str]


def latency(histogram: Histogram) -> Latency:
    """The three quantiles."""
    p50, p95, p99 = (histogram.quantile_ms(share) for share in _QUANTILES)
    return Latency(p50, p95, p99)


def report(plan: Plan, outcome: Outcome, memory: Memory | None) -> Report:
    """Everything about a run of one interval."""
    seen, verdict = outcome.intervals[0], outcome.verdict
    return Report(
        users=plan.users,
        conversations=plan.conversations,
        members=plan.members,
        sockets=outcome.sockets,
        window=0 if plan.rate else plan.window,
        rate=plan.rate,
        seconds=round(seen.seconds, 3),
        messages=seen.acknowledged,
        messages_per_second=round(seen.acknowledged / seen.seconds, 1),
        deliveries=seen.delivered,
        deliveries_per_second=round(seen.delivered / seen.seconds, 1),
        acknowledged=latency(seen.acknowledgement),
        delivered=latency(seen.delivery),
        errors=dict(seen.errors),
        unsent=seen.unsent,
        memory=memory,
        subscriptions=verdict.subscriptions,
        expected=verdict.expected,
        missing=verdict.missing,
        repeated=verdict.repeated,
        disordered=verdict.disordered,
        skipped=verdict.skipped,
        exact=verdict.exact,
        examples=verdict.examples,
    )


def progress_line(second: int, seen: Interval) -> str:
    """One second of the run."""
    ack = latency(seen.acknowledgement)
    errors = sum(seen.errors.values())
    return (
        f"{second:4d} s  {seen.acknowledged / seen.seconds:8,.0f} messages/s"
        f"  {seen.delivered / seen.seconds:9,.0f} deliveries/s"
        f"  ack p50 {_ms(ack.p50_ms)} p99 {_ms(ack.p99_ms)}"
        f"  in flight {seen.in_flight:,}  errors {errors:,}"
    )


def table(it: Report) -> str:
    """The last lines of a run, for a human."""
    pace = f"{it.rate:,.0f} messages/s offered" if it.rate else f"{it.window:,} in flight"
    lines = [
        f"{it.users:,} users, {it.conversations:,} conversations of {it.members:,}, {it.sockets:,} sockets, "
        f"{pace}, {it.seconds:.1f} s",
        f"messages      {it.messages_per_second:10,.0f} /s   {it.messages:12,} in all",
        f"deliveries    {it.deliveries_per_second:10,.0f} /s   {it.deliveries:12,} in all",
        "                     p50          p95          p99",
        f"acknowledged  {_row(it.acknowledged)}",
        f"delivered     {_row(it.delivered)}",
        f"errors        {_errors(it.errors)}",
    ]
    if it.unsent:
        lines.append(
            f"unsent        {it.unsent:,}: too many were in flight; the server cannot keep this rate"
        )
    if it.memory:
        after, before = it.memory.after_bytes / 1e6, it.memory.before_bytes / 1e6
        lines.append(
            f"memory        {after:,.0f} MB, {before:,.0f} MB before (server process {it.memory.pid})"
        )
    lines.append(f"exact         {_exact(it)}")
    return "\n".join(lines + [f"              {line}" for line in it.examples])


def _exact(it: Report) -> str:
    if not it.subscriptions:
        return "nothing was subscribed, so nothing was checked"
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
