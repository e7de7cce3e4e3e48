"""Totals of a running system, for the metrics."""

_NAMES = (
    "activations", "commits", "cuts", "frames_offered", "frames_skipped", "letters", "overdue", "passivations",
    "restarts", "slimmed", "turns",
)  # fmt: skip


class Counters:
    """Totals since the start of the system; they only rise.

    turns, letters: turns taken, and the commands in them. commits: turns that went to the writer. cuts: turns that
    ended early, because the next command needed rows that they changed, or because their own had taken long.
    activations, passivations, restarts: activations begun, retired, ended by an error.
    overdue: callers told that their deadline had passed. frames_offered: sends to subscribers.
    frames_skipped: subscribers that fell behind because their socket was full.
    slimmed: owners, copies and views that gave up what rows hold as well, because much was watched at once.
    """

    __slots__ = _NAMES

    def __init__(self) -> None:
        self.activations = 0
        self.commits = 0
        self.cuts = 0
        self.frames_offered = 0
        self.frames_skipped = 0
        self.letters = 0
        self.overdue = 0
        self.passivations = 0
        self.restarts = 0
        self.slimmed = 0
        self.turns = 0

    def items(self) -> list[tuple[str, int]]:
        """Return (name, value) of each counter, in the alphabetical order of their names."""
        return [(name, getattr(self, name)) for name in _NAMES]
