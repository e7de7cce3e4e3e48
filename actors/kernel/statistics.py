"""Statistics of a running system: one row for each actor, and totals for the metrics."""

import msgspec


class ActorStatistics(msgspec.Struct, frozen=True, rename="camel"):
    """One owner or view, as `GET /v1/admin/actors` lists it (contract §11).

    Args:
        kind, id: of the owner or view.
        mailbox: how many commands are queued; of a view, how many changed sources it has yet to take in.
        subscribers: open subscriptions.
        restarts: activations that ended by a fault or a failure of the database; 0 for views.
        last_error: class name of the error that ended the last of them; None when none did.
        offset: of its channel: the journal position of an owner, a count since activation of a view.
        idle_ms: milliseconds since its last turn or frame.
    """

    kind: str
    id: str
    mailbox: int
    subscribers: int
    restarts: int
    last_error: str | None
    offset: int
    idle_ms: int


_NAMES = (
    "activations", "commits", "cuts", "frames_offered", "frames_skipped", "letters", "overdue", "passivations",
    "restarts", "turns",
)  # fmt: skip


class Counters:
    """Totals since the start of the system; they only rise.

    turns, letters: turns taken, and the commands in them. commits: turns that went to the writer. cuts: turns that
    ended early, because the next command needed rows that they changed.
    activations, passivations, restarts: activations begun, retired, ended by an error.
    overdue: callers told that their deadline had passed. frames_offered: sends to subscribers.
    frames_skipped: subscribers that fell behind because their socket was full.
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
        self.turns = 0

    def items(self) -> list[tuple[str, int]]:
        """Return (name, value) of each, by name."""
        return [(name, getattr(self, name)) for name in _NAMES]
