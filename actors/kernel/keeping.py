"""What an activation writes beside its turns: snapshots, and a journal that is trimmed to its limit in bytes.

Both are bounded, and tried again later when they fail: nothing acknowledged depends on them.
"""

from collections.abc import Sequence
from typing import Any

import structlog

from actors.kernel.kind import Kind
from actors.kernel.recovery import Recovered, save, trim
from actors.kernel.runtime import Runtime
from actors.kernel.supervisor import Contained
from persistence.errors import PersistenceError

_log = structlog.get_logger()

# Turns between two snapshots, so that a load never has many events to apply.
SNAPSHOT_TURNS = 256

# A larger state is not saved but loaded from its rows: a snapshot is only worth what it saves.
SNAPSHOT_BYTES = 8 * 1024 * 1024

# Encoded events kept for one actor, beside their number and age (`persistence/journal/journal.py`).
JOURNAL_BYTES = 16 * 1024 * 1024

# By how much the journal may exceed its limit before it is trimmed, because trimming reads the sizes of all events.
TRIM_BYTES = 1024 * 1024


class Keeping:
    """Saves the snapshots of one owner and trims its journal.

    Args:
        kind, id: the owner's kind and id.
        runtime: what all actors of the system share.
        recovered: the committed state that the owner's activation begins with.
    """

    __slots__ = ("_id", "_journal_bytes", "_kind", "_runtime", "_saving", "_trimming", "_unsaved")

    def __init__(self, kind: Kind[Any, Any], id: str, runtime: Runtime, recovered: Recovered) -> None:
        self._kind = kind
        self._id = id
        self._runtime = runtime
        self._unsaved = 1 if recovered.from_rows else 0
        self._journal_bytes = recovered.journal_bytes
        self._saving = False
        self._trimming = False

    @property
    def wants_snapshot(self) -> bool:
        """True when enough turns were committed since the last snapshot and none is being saved."""
        return self._unsaved >= SNAPSHOT_TURNS and not self._saving

    def committed(self, journal: Sequence[bytes]) -> None:
        """Count a committed turn that appended these encoded events; starts to trim a journal that is too large."""
        self._unsaved += 1
        if journal:
            self._journal_bytes += sum(map(len, journal))
            if self._journal_bytes > JOURNAL_BYTES + TRIM_BYTES and not self._trimming:
                self._trimming = True
                self._runtime.start(self._trim)

    async def save(self, seq: int, state: Any) -> None:
        """Save a snapshot if the state has changed since the last one. It is a cache: failures are logged.

        Cancellation may leave the snapshot unsaved, and no other is saved after it.

        Args:
            seq, state: the journal position, and the committed state there.
        """
        if not self._unsaved or self._saving:
            return
        self._saving = True
        # Turns may be taken while it is written: they are not in it.
        self._unsaved = 0
        with Contained("saving a snapshot", self._kind.name, self._id) as saving:
            dumped = self._kind.dump(state)
            if len(dumped) <= SNAPSHOT_BYTES:
                await self._write(seq, dumped)
        if saving.fault is not None:
            self._unsaved += 1
        self._saving = False

    async def _write(self, seq: int, dumped: bytes) -> None:
        runtime = self._runtime
        try:
            await runtime.store.transact(save, runtime.journal, self._kind, self._id, (seq, dumped))
        except PersistenceError as failure:
            self._unsaved += 1
            why = type(failure).__name__
            _log.warning("snapshot_not_saved", kind=self._kind.name, id=self._id, why=why)

    async def _trim(self) -> None:
        """Delete the oldest events. When that fails, the next turn with events tries again."""
        runtime = self._runtime
        with Contained("trimming a journal", self._kind.name, self._id):
            before = self._journal_bytes
            try:
                kept = await runtime.store.transact(
                    trim, runtime.journal, self._kind, self._id, JOURNAL_BYTES
                )
            except PersistenceError as failure:
                why = type(failure).__name__
                _log.warning("journal_not_trimmed", kind=self._kind.name, id=self._id, why=why)
            else:
                # What was committed meanwhile may be counted twice: too high is safer than too low.
                self._journal_bytes = kept + self._journal_bytes - before
        self._trimming = False
