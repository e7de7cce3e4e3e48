"""Reading owners: each by itself, or with others of its kind that are wanted meanwhile.

When thousands of clients come back at once, so do the conversations that they follow, and of the statements for one
most are a way there and back. So of a kind that can be loaded together at most `joint_reads.AT_ONCE` reads are under
way; owners that are wanted meanwhile wait, and are read together by the next one. Where little happens, nothing ever
waits.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from actors.kernel.joint_reads import JointReads
from actors.kernel.kind import Kind
from actors.kernel.recovery import Recovered, recover, recover_many
from actors.kernel.room import Room
from actors.kernel.store import Journal, Store
from actors.kernel.supervisor import Contained
from persistence.errors import DatabaseUnavailable, PersistenceError

# Most owners in one read, so that its time is bounded: of the largest conversations there may be this many.
MOST_TOGETHER = 16


class OwnerLoads:
    """Reads the committed states of owners.

    Args:
        store, journal: as given to `open_system`.
        room: how many reads may be under way, of views as well.
    """

    __slots__ = ("_joint", "_journal", "_room", "_store")

    def __init__(self, store: Store, journal: Journal, room: Room) -> None:
        self._store = store
        self._journal = journal
        self._room = room
        # {kind's name: its reads}. What they find is wrapped, as an owner that is not there has been read as well.
        self._joint: dict[str, JointReads[str, tuple[Recovered | None]]] = {}

    async def read(self, kind: Kind[Any, Any], id: str) -> Recovered | None:
        """The committed state of an owner, by a read that begins after this call; None when there is no such owner.

        Where rows are refused, or a rule raises, each owner is read alone, so that only the culprit fails.
        Cancellation ends the read only where nobody else waits for it.

        Raises:
            PersistenceError: the rows cannot be read.
        """
        if kind.together is not None:
            found = await self._joint_reads(kind).read(id)
            if found is not None:
                return found[0]
        async with self._room:
            return await self._store.read(recover, self._journal, kind, id)

    def _joint_reads(self, kind: Kind[Any, Any]) -> JointReads[str, tuple[Recovered | None]]:
        reads = self._joint.get(kind.name)
        if reads is None:
            reads = self._joint[kind.name] = JointReads(partial(self._read_many, kind), most=MOST_TOGETHER)
        return reads

    async def _read_many(
        self, kind: Kind[Any, Any], ids: Sequence[str]
    ) -> Mapping[str, tuple[Recovered | None]]:
        """{id: what `recover` returns} of these owners; nothing where one of them is at fault."""
        away: DatabaseUnavailable | None = None
        with Contained("loading owners", kind.name):
            try:
                async with self._room:
                    found = await self._store.read(recover_many, self._journal, kind, ids)
                return {id: (found.get(id),) for id in ids}
            except DatabaseUnavailable as error:
                away = error
            except PersistenceError:
                pass
        if away is not None:
            raise away
        return {}
