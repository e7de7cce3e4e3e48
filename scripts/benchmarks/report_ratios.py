"""Comparisons of two states of the code as text: a line while it goes on, and the table in the end."""

import math
from statistics import median

from scripts.benchmarks.against import Comparison, Turns
from scripts.benchmarks.cases import CASES, COSTS
from scripts.benchmarks.ratios import Ratio, Round, compared

_CASES = {case.name: case for case in CASES}


def heading(new: str, old: str, turns: Turns) -> str:
    """One line about what is compared."""
    return f"{new} against {old}: {turns.sessions} sessions of {turns.rounds} rounds of {turns.seconds:g} s"


def session_line(rounds: list[Round]) -> str:
    """The line about a session while the run goes on."""
    new, control = compared([rounds])
    costs = " ".join(f"{median(column):.1f}" for column in zip(*rounds, strict=True))
    return f"  costs {costs}, new {new.middle:.3f}, control {control.middle:.3f}"


def summary(one: Comparison) -> str:
    """A case in one line."""
    fault = f", NOT EXACT: {one.fault}" if one.fault else ""
    return f"{_CASES[one.case].title}: {ratio(one.new)}, {verdict(one)}, control {ratio(one.control)}{fault}"


def comparisons(done: list[Comparison]) -> str:
    """All cases as a table in Markdown."""
    head = ["workload", "what counts", "before", "after", "ratio", "", "control"]
    lines = [head, ["---", "---", "---:", "---:", "---:", "---", "---:"], *map(_cells, done)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def ratio(one: Ratio) -> str:
    """A ratio with its interval as text; after a single session there is no interval."""
    if math.isinf(one.high):
        return f"{one.middle:.3f}"
    return f"{one.middle:.3f} [{one.low:.3f}, {one.high:.3f}]"


def verdict(one: Comparison) -> str:
    """What a comparison shows, in words: nothing, when the other state differs from itself."""
    if one.control.excludes_one:
        return "not to be trusted: the control is not 1"
    if not one.new.excludes_one:
        return "no difference seen"
    return "less" if one.new.middle < 1 else "MORE"


def of_nodes(done: list[Comparison], nodes: int) -> str:
    """All cases as a table in Markdown: so many nodes beside one.

    How much more the nodes would carry is computed: the number of nodes, divided by how many times more a unit costs.
    It holds where each node has a core of its own, and PostgreSQL and the clients have room.
    """
    head = [
        "workload",
        "what counts",
        "one node",
        f"{nodes} nodes",
        "ratio",
        "goal",
        "reached",
        "carry",
        "control",
    ]
    rows = [head, ["---", "---", "---:", "---:", "---:", "---:", "---", "---:", "---:"]]
    for one in done:
        title, unit, before, after, times, says, control = _cells(one)
        goal = _CASES[one.case].times_one_node
        reached = "-" if goal is None else "yes" if one.new.middle <= goal else "NO"
        fault = says.partition("; ")[2]
        rows.append(
            [
                title, unit, before, after, times,
                "-" if goal is None else f"≤ {goal:g}",
                f"{reached}; {fault}" if fault else reached,
                f"{nodes / one.new.middle:.2f} ×",
                control,
            ]
        )  # fmt: skip
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def _cells(one: Comparison) -> list[str]:
    case = _CASES[one.case]
    rounds = [each for session in one.sessions for each in session]
    before, after = (
        median([(each.old + each.again) / 2 for each in rounds]),
        median([each.new for each in rounds]),
    )
    says = verdict(one) + (f"; NOT EXACT: {one.fault}" if one.fault else "")
    return [
        case.title,
        COSTS[case.unit],
        f"{before:.2f}",
        f"{after:.2f}",
        ratio(one.new),
        says,
        ratio(one.control),
    ]
