"""Growth as text: a line for each size while it goes on, and a table in the end."""

from scripts.growth.measure import Grown, Point
from scripts.growth.rows import GROWTHS

_GROWTHS = {growth.name: growth for growth in GROWTHS}


def line(point: Point) -> str:
    """The line about one size."""
    fault = "" if point.exact else ", NOT EXACT"
    return (
        f"  {point.size:>12,}: {point.cost_us:,.1f} µs ±{point.cost_spread:.0f} %, "
        f"PostgreSQL {point.database_us:,.1f} µs, others {point.others:.0f} %{fault}"
    )


def table(done: list[Grown]) -> str:
    """All workloads as a table in Markdown."""
    head = ["a unit, by what grows", "sizes", "CPU µs a unit", "slope", "at most", "PostgreSQL µs", "slope"]
    lines = [head, ["---", "---", "---:", "---:", "---:", "---:", "---:"], *map(_cells, done)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def is_good(one: Grown) -> bool:
    """Whether all was exact, and no part grew more steeply than it may."""
    most = _GROWTHS[one.growth].most
    return all(point.exact for point in one.points) and max(one.slope, one.database_slope) <= most


def _cells(one: Grown) -> list[str]:
    growth = _GROWTHS[one.growth]
    return [
        growth.title,
        ", ".join(f"{point.size:,}" for point in one.points),
        ", ".join(f"{point.cost_us:,.1f}" for point in one.points),
        f"{one.slope:.2f}" if is_good(one) else f"**{one.slope:.2f}**",
        f"{growth.most:.2f}",
        ", ".join(f"{point.database_us:,.1f}" for point in one.points),
        f"{one.database_slope:.2f}",
    ]
