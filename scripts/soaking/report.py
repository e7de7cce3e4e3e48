"""The output of a soak: a line for each stretch while it runs, and one table at the end."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scripts.load.clients.exchange import Verdict
from scripts.load.histogram import Histogram
from scripts.soaking.books import Books
from scripts.soaking.faults import Fault
from scripts.soaking.samples import Held, Sample, Slope

GROUPS = ("chat", "social", "profile", "connect", "publishing", "operating", "sockets")
"""The first words of all kinds of requests, in the order of the columns."""

OWN_GAUGES = (
    "resident_bytes",
    "allocator_free_bytes",
    "collectable_objects",
    'collected_objects_total{generation="0"}',
    'collected_objects_total{generation="1"}',
    'collected_objects_total{generation="2"}',
    "actors",
    "sockets",
    "replay_bytes",
    "documents_bytes",
    "rate_buckets",
)
"""The metrics, by their names on `/metrics`, that are about the server's memory."""

MB = 1e6
SHOWN = 12


class Bound(NamedTuple):
    """How much something may grow.

    Args:
        per_hour: the most growth an hour, in units of the sample.
        unit: the unit in which it is shown, as a number of units of the sample.
        word: the name of that unit.
    """

    per_hour: float
    unit: float
    word: str


@dataclass
class Outcome:
    """The results of a soak.

    Args:
        seconds: how long it was.
        books: all that was counted.
        samples: looks at the server's and the database's processes, in order.
        slopes: {field of a sample: (how it has grown, how much it may)}.
        before, after: what the database held at the beginning and at the end, {domain: rows and bytes}.
        verdict: the judgement of all acknowledged messages.
        faults: the faults that have happened.
        starts: how often the server was started.
        repeats: messages that were sent more than once.
        gauges: the server's own metrics of its memory at the end, {name: value}.
        failures: lines about what made the soak fail, such as an early end.
    """

    seconds: float
    books: Books
    samples: list[Sample]
    slopes: dict[str, tuple[Slope, Bound]]
    before: dict[str, Held]
    after: dict[str, Held]
    verdict: Verdict
    faults: list[Fault]
    starts: int
    repeats: int
    gauges: Mapping[str, float] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    @property
    def flat(self) -> bool:
        """Whether nothing that was judged grows by more than it may."""
        return all(slope.per_hour <= bound.per_hour for slope, bound in self.slopes.values())

    @property
    def well(self) -> bool:
        """Whether no message was lost, nothing grows too much, and nothing failed without a cause."""
        sockets = self.books.sockets
        seen = not (sockets["repeated"] or sockets["gaps"])
        return self.verdict.exact and self.flat and seen and not self.books.errors and not self.failures


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a soak.

    Args:
        at_seconds: when it ended, in seconds since the beginning.
        seconds: how long it was.
        kinds: latencies by kind of request.
        sample: the look at its end; None where the server was away.
        kept_bytes: the size of the database; None where that was away.
        errors, weathered: failures without and with a cause since the beginning.
    """

    at_seconds: float
    seconds: float
    kinds: Mapping[str, Histogram]
    sample: Sample | None
    kept_bytes: int | None
    errors: int
    weathered: int


def heading() -> str:
    """The heading above the lines of stretches."""
    groups = "".join(f"{group:>12}" for group in GROUPS)
    machine = f"{'server':>9}{'fds':>6}{'threads':>8}{'postgres':>10}{'kept':>9}"
    return f"{'':>7} {'req/s':>6}{groups}{machine}{'errors':>8}{'faulty':>8}    (p50/p99 in ms)"


def stretch_line(it: Stretch) -> str:
    """A stretch as one line: requests a second, p50/p99 by group, then memory and size of server and database."""
    groups = "".join(f"{_two(_joined(it.kinds, group)):>12}" for group in GROUPS)
    rate = sum(one.total for one in it.kinds.values()) / it.seconds
    machine = f"{'away':>9}{'':>24}"
    if it.sample is not None:
        machine = (
            f"{it.sample.server_bytes / MB:6.0f} MB{it.sample.descriptors:6}{it.sample.threads:8}"
            f"{it.sample.database_bytes / MB:7.0f} MB"
        )
    kept = "away" if it.kept_bytes is None else f"{it.kept_bytes / MB:.0f} MB"
    return f"{it.at_seconds:6.0f}s {rate:6.1f}{groups}{machine}{kept:>9}{it.errors:8,}{it.weathered:8,}"


def _joined(kinds: Mapping[str, Histogram], group: str) -> Histogram:
    both = Histogram()
    for kind, one in kinds.items():
        if kind.startswith(f"{group}/"):
            both.add_all(list(enumerate(one.counts)))
    return both


def table(it: Outcome) -> str:
    """The results of a soak as a table, for a human."""
    lines = [f"{'kind of request':<28}{'number':>10}{'p50 ms':>9}{'p99 ms':>9}"]
    for kind, one in sorted(it.books.all_kinds.items()):
        lines.append(f"{kind:<28}{one.total:>10,}{_ms(one, 0.5):>9}{_ms(one, 0.99):>9}")
    lines += ["", f"{'kept in the database':<28}{'rows':>10}{'more':>10}{'MB':>8}{'more':>8}"]
    for domain, after in sorted(it.after.items()):
        before = it.before.get(domain, Held(0, 0))
        if not after.rows:
            continue
        lines.append(
            f"{domain:<28}{after.rows:>10,}{after.rows - before.rows:>+10,}{after.size_bytes / MB:>8.1f}"
            f"{(after.size_bytes - before.size_bytes) / MB:>+8.1f}"
        )
    lines += [
        "",
        f"faults      {_counts(Counter(fault.kind for fault in it.faults))}; {it.starts} starts of the server",
    ]
    lines.append(f"sockets     {_counts(it.books.sockets)}")
    lines.append(f"refused     {_counts(it.books.refused)}")
    lines.append(f"in faults   {_counts(it.books.weathered)}")
    lines.append(f"server says {_gauges(it.gauges)}")
    lines.append(f"late        {it.books.late:,} deeds were not begun, since too many were under way")
    return "\n".join([*lines, *_judgement(it)])


def _judgement(it: Outcome) -> Sequence[str]:
    lines = [f"errors      {_counts(it.books.errors)}"]
    for name, (slope, bound) in it.slopes.items():
        said = "too short to judge"
        if slope.seconds:
            grows = "GROWS" if slope.per_hour > bound.per_hour else "flat"
            moved = f"{slope.per_hour / bound.unit:+,.1f} {bound.word} an hour over {slope.seconds / 60:,.0f} minutes"
            said = f"{grows}: {moved} ({bound.per_hour / bound.unit:,.0f} allowed)"
        lines.append(f"{name:<18}{said}")
    found = it.verdict
    lines.append(
        f"messages          {found.expected:,} acknowledged to {found.subscriptions} writers ({it.repeats:,} repeats): "
        f"{found.missing} missing, {found.repeated} repeated, {found.disordered} out of order"
    )
    lines += [f"                  {line}" for line in (*found.examples, *it.failures)]
    return [
        *lines,
        f"verdict           {'WELL' if it.well else 'NOT WELL'} after {it.seconds / 60:,.1f} minutes",
    ]


def _gauges(gauges: Mapping[str, float]) -> str:
    """The server's metrics of its memory as text: bytes as megabytes, all else as it is."""
    return (
        ", ".join(
            f"{name.removesuffix('_bytes').replace('_', ' ')} "
            + (f"{value / MB:.1f} MB" if name.endswith("_bytes") else f"{value:,.0f}")
            for name, value in gauges.items()
        )
        or "nothing"
    )


def gauges_of(text: str) -> dict[str, float]:
    """The metrics about the server's memory, {name: value}.

    Args:
        text: the answer of `/metrics`, in Prometheus' form.
    """
    found = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("partyline_"))
    return {name: float(found[f"partyline_{name}"]) for name in OWN_GAUGES if f"partyline_{name}" in found}


def _two(one: Histogram) -> str:
    return f"{_ms(one, 0.5)}/{_ms(one, 0.99)}" if one.total else "-"


def _ms(one: Histogram, share: float) -> str:
    found = one.quantile_ms(share)
    return "-" if found is None else f"{found:.1f}" if found < 10 else f"{found:.0f}"


def _counts(counts: Mapping[str, int]) -> str:
    found = Counter(counts).most_common()
    lines = [f"{what} {count:,}" for what, count in found[:SHOWN] if count]
    if rest := sum(count for _, count in found[SHOWN:]):
        lines.append(f"{rest:,} others")
    return ", ".join(lines) or "none"
