"""The rows as tables in Markdown, with the machine they are from, and their place in BENCHMARKS.md."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import actors  # noqa: F401 - has compiled modules found, as the server does
from compiled.finding import standing
from scripts.benchmarks.cases import CASES, COSTS, Case
from scripts.benchmarks.measure import Row
from scripts.benchmarks.peers import node_version
from scripts.benchmarks.servers import TITLES, Name

PAPER = Path(__file__).resolve().parents[2] / "BENCHMARKS.md"
BEGIN, END = "<!-- scripts/bench --record: begin -->", "<!-- scripts/bench --record: end -->"

Rows = dict[tuple[str, Name], Row]


def machine() -> str:
    """One line about this machine and what runs on it."""
    model, memory = "unknown processor", ""
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemTotal"):
            memory = f", {int(line.split()[1]) / 1024**2:.0f} GiB"
    return (
        f"{datetime.now(UTC):%Y-%m-%d}: {os.cpu_count()} CPUs ({model}){memory}, Linux {platform.release()}, "
        f"Python {platform.python_version()} with {len(standing().modules) or 'no'} modules compiled, "
        f"Node {node_version() or 'missing'}."
    )


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def markdown(rows: list[Row]) -> str:
    """Three tables: costs with goals, rates, and what the clients saw."""
    of: Rows = {(row.case, row.server): row for row in rows}
    ran = [case for case in CASES if any(row.case == case.name for row in rows)]
    parts = [machine(), _costs(ran, of), _rates(ran, of), _seen(rows), _notes(rows)]
    return "\n\n".join(part for part in parts if part)


def _costs(ran: list[Case], of: Rows) -> str:
    head = ["workload", "what counts (less is better)", *TITLES.values(), "Node ÷ lean", "goal", "reached"]
    lines = []
    for case in ran:
        lean, node = of.get((case.name, "lean")), of.get((case.name, "node"))
        times = node.cost / lean.cost if node and lean and node.cost and lean.cost else None
        goals, reached = _goals(case, lean, times)
        costs = [_cell(of.get((case.name, server))) for server in TITLES]
        lines.append([case.title, COSTS[case.unit], *costs, _number(times, "×"), goals, reached])
    return _table(head, lines)


def _goals(case: Case, lean: Row | None, times: float | None) -> tuple[str, str]:
    """The goals of a case but for its rate, and whether they are reached, as text."""
    goal = case.goal
    wanted: list[str] = []
    met: list[bool | None] = []
    if goal.cost is not None:
        wanted.append(f"≤ {goal.cost:g}")
        met.append(None if lean is None or lean.cost is None else lean.cost <= goal.cost)
    if goal.times_node is not None:
        wanted.append(f"≥ {goal.times_node:.3g}×")
        met.append(None if times is None else times >= goal.times_node)
    if goal.last_p99_ms is not None:
        wanted.append(f"last p99 ≤ {goal.last_p99_ms:g} ms")
        last = lean.last_p99_ms if lean else None
        met.append(None if last is None else last <= goal.last_p99_ms)
    return ", ".join(wanted) or "-", ", ".join(map(_verdict, met)) or "-"


def _rates(ran: list[Case], of: Rows) -> str:
    """The table of units a second, and of how many a server would do with a full core, by its cost."""
    head = ["a second", *TITLES.values(), "lean, with a full core", "goal", "reached"]
    lines = []
    for case in ran:
        if case.unit in ("opening", "socket", "p99"):
            continue
        lean = of.get((case.name, "lean"))
        full = 1e6 / lean.cost if lean and lean.cost else None
        rates = [_number(row.rate if (row := of.get((case.name, server))) else None) for server in TITLES]
        goal = case.goal.rate
        met = None if full is None or goal is None else full >= goal
        lines.append([case.title, *rates, _number(full), _number(goal), _verdict(met)])
    return _table(head, lines) if lines else ""


def _seen(rows: list[Row]) -> str:
    head = [
        "workload",
        "server",
        "± cost",
        "± rate",
        "p50 ms",
        "p99 ms",
        "last p99 ms",
        "errors",
        "skipped",
        "exact",
        "others",
    ]
    titles = {case.name: case.title for case in CASES}
    lines = [
        [
            titles[row.case],
            TITLES[row.server],
            _number(row.cost_spread, " %", 0),
            _number(row.rate_spread, " %", 0),
            *(_number(value, "", 2) for value in (row.p50_ms, row.p99_ms, row.last_p99_ms)),
            f"{row.errors:,}",
            f"{row.skipped:,}",
            "yes" if row.exact else "NO",
            _number(row.others, " %", 0),
        ]
        for row in rows
        if row.cost is not None
    ]
    return _table(head, lines) if lines else ""


def _notes(rows: list[Row]) -> str:
    """The remarks below the tables. The log of a server that did not start is not among them: it is printed during the
    run."""
    titles = {case.name: case.title for case in CASES}
    noted = [(row, row.note.partition("\n")[0].rstrip(":")) for row in rows if row.note]
    return "\n".join(f"- {titles[row.case]}, {TITLES[row.server]}: {first_line}" for row, first_line in noted)


def line(row: Row) -> str:
    """The line about a row while the run goes on."""
    cost = f"cost {_number(row.cost)} ± {_number(row.cost_spread, ' %', 0)}"
    rate = f", {_number(row.rate)} /s" if row.rate is not None else ""
    exact = "" if row.exact else ", NOT EXACT"
    others = "" if row.others is None else f", others {row.others:.0f} %"
    return f"  {row.server:<9}{cost}{rate}{others}{exact}{', ' + row.note if row.note else ''}"


def record(text: str, paper: Path = PAPER) -> None:
    """Put the tables into their place in BENCHMARKS.md, instead of those that are there.

    Raises:
        ValueError: the paper has no such place.
    """
    before, found, rest = paper.read_text(encoding="utf-8").partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not found or not closed:
        raise ValueError(f"{paper.name} lacks the lines {BEGIN} and {END}")
    paper.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def _table(head: list[str], lines: list[list[str]]) -> str:
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *lines]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def _cell(row: Row | None) -> str:
    return _number(row.cost if row else None)


def _number(value: float | None, unit: str = "", decimals: int | None = None) -> str:
    if value is None:
        return "-"
    if decimals is None:
        decimals = 0 if value >= 1000 else 1 if value >= 10 else 2
    return f"{value:,.{decimals}f}{unit}"


def _verdict(met: bool | None) -> str:
    return "-" if met is None else "yes" if met else "no"
