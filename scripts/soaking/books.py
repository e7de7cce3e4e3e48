"""The counts of a soak: latencies by kind of request, refusals, failures with and without a cause, and what sockets
saw."""

from collections import Counter, defaultdict

from scripts.load.histogram import Histogram


class Books:
    """Counts of the present interval, and of the whole run."""

    def __init__(self) -> None:
        self.kinds: dict[str, Histogram] = defaultdict(Histogram)
        """{kind of request: latencies of this interval, in calm weather}"""
        self.all_kinds: dict[str, Histogram] = defaultdict(Histogram)
        self.refused: Counter[str] = Counter()
        """{kind and code: how often}: refusals by rules, since users do things at the same time"""
        self.weathered: Counter[str] = Counter()
        """{kind and code: how often}: failures while a fault healed"""
        self.errors: Counter[str] = Counter()
        """{kind and code: how often}: failures that nothing explains"""
        self.sockets: Counter[str] = Counter()
        """{what was seen: how often}: opened, resumed, snapshots, events, and so on"""
        self.answered = 0
        self.late = 0

    def add(self, kind: str, nanoseconds: int) -> None:
        """Count the latency of a request that was answered with success, in calm weather."""
        self.kinds[kind].add(nanoseconds)
        self.answered += 1

    def turn_over(self) -> dict[str, Histogram]:
        """Return the latencies of the present interval, {kind: histogram}, and begin a new one."""
        taken, self.kinds = self.kinds, defaultdict(Histogram)
        for kind, histogram in taken.items():
            self.all_kinds[kind].add_all([(at, count) for at, count in enumerate(histogram.counts) if count])
        return taken
