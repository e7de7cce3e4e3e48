"""Who shows themselves differently to whom (contract §5): links whose visibility is not `DEFAULT`, what is left of
hidden ones when the friendship has ended, and blocks, across which neither user shows.

They are few, so all of them are in memory, read at the start and told of each change; everything that shows a user
to another asks here, and nearly always finds nothing.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from types import MappingProxyType
from typing import Literal, NamedTuple

from actors.meanwhile import Meanwhile
from persistence.friends.visibilities import Visibility

Restriction = Literal["LIMITED", "HIDDEN"]
"""A visibility that hides something."""

TURNS_KEPT = 1_000
"""Most links whose newest turn is remembered: changes that arrive in the wrong order follow each other closely."""

NOBODY: frozenset[str] = frozenset()

UNRESTRICTED: Mapping[str, Restriction] = MappingProxyType({})


class Stored(NamedTuple):
    """What rows say of all users.

    Args:
        chosen: (holder, viewer, visibility) of every link that is not `DEFAULT`, and of every hidden one whose
            friendship has ended.
        parted: (blocking user, blocked user) of every block.
    """

    chosen: Sequence[tuple[str, str, Visibility]]
    parted: Sequence[tuple[str, str]]


class Told(NamedTuple):
    """The links and pairs that changed while rows were read, and keep what memory has of them.

    Args:
        chosen: (holder, viewer) of links.
        parted: pairs of users, in the order of their ids.
    """

    chosen: AbstractSet[tuple[str, str]]
    parted: AbstractSet[tuple[str, str]]


NOTHING_TOLD = Told(frozenset(), frozenset())


class Turns:
    """The newest turn of each key, for changes that arrive in another order than they were made in."""

    def __init__(self) -> None:
        self._newest: dict[tuple[str, str], int] = {}  # the last `TURNS_KEPT` that were asked about

    def knows(self, key: tuple[str, str], turn: int) -> bool:
        """Whether this turn of the key, or a later one, has been told of."""
        return self._newest.get(key, 0) >= turn

    def is_newest(self, key: tuple[str, str], turn: int) -> bool:
        """Whether no later turn of this key is known; then this one is the newest."""
        known = self._newest.pop(key, 0)
        if len(self._newest) >= TURNS_KEPT:
            del self._newest[next(iter(self._newest))]
        self._newest[key] = max(known, turn)
        return turn > known


class Visibilities:
    """Memory of what all holders of links have chosen for their friends, and of who is parted by blocks."""

    def __init__(self) -> None:
        self._restricted: dict[str, dict[str, Restriction]] = {}  # {viewer: {holder: restriction}}
        self._parted: dict[str, set[str]] = {}  # {user: those from whom a block parts them, whoever blocks}
        self.turns = Turns()  # of (holder, viewer)
        self._choices: Meanwhile[tuple[str, str]] = Meanwhile()
        self._blocks: Meanwhile[tuple[str, str]] = Meanwhile()

    @contextmanager
    def reading(self) -> Iterator[Told]:
        """Collect the changes that come while rows are read, for `fill`."""
        with self._choices.reading() as chosen, self._blocks.reading() as parted:
            yield Told(chosen, parted)

    def fill(self, stored: Stored, told: Told = NOTHING_TOLD) -> set[tuple[str, str]]:
        """Replace all that was known by what is stored; returns (user, viewer) for whom what is seen has changed.

        Args:
            stored: the rows, read within a block of `reading`.
            told: the changes that this block has collected.
        """
        chosen = {(holder_id, viewer_id): visibility for holder_id, viewer_id, visibility in stored.chosen}
        blocks = {(min(pair), max(pair)) for pair in stored.parted}
        known = {(holder, viewer) for viewer, holders in self._restricted.items() for holder in holders}
        known_blocks = {
            (one, other) for one, others in self._parted.items() for other in others if one < other
        }
        asked = (chosen.keys() | known) - told.chosen
        moved = {pair for pair in asked if self.change(*pair, chosen.get(pair, "DEFAULT"))}
        for pair in (blocks ^ known_blocks) - told.parted:
            self.part(*pair, parted=pair in blocks)
            moved |= {pair, pair[::-1]}
        return moved

    def change(self, holder_id: str, viewer_id: str, visibility: Visibility, turn: int | None = None) -> bool:
        """Take in what a viewer may see of a holder now; returns False if that was known already.

        Args:
            visibility: the holder's choice; `DEFAULT` also once the link has ended.
            turn: the number of the change: one that is older than the newest known is passed over.
        """
        if turn is not None and not self.turns.is_newest((holder_id, viewer_id), turn):
            return False
        self._choices.told((holder_id, viewer_id))
        restrictions = self._restricted.get(viewer_id, {})
        if restrictions.get(holder_id, "DEFAULT") == visibility:
            return False
        # A new dict, because whoever has the old one may be walking it.
        restrictions = {id: restriction for id, restriction in restrictions.items() if id != holder_id}
        if visibility != "DEFAULT":
            restrictions[holder_id] = visibility
        if restrictions:
            self._restricted[viewer_id] = restrictions
        else:
            self._restricted.pop(viewer_id, None)
        return True

    def part(self, one_id: str, other_id: str, *, parted: bool) -> bool:
        """Note whether a block stands between two users; returns False if that was known already.

        Args:
            parted: whether a block stands between them.
        """
        self._blocks.told((min(one_id, other_id), max(one_id, other_id)))
        if (other_id in self._parted.get(one_id, NOBODY)) == parted:
            return False
        for id, other in ((one_id, other_id), (other_id, one_id)):
            others = self._parted.setdefault(id, set())
            if parted:
                others.add(other)
            else:
                others.discard(other)
            if not others:
                del self._parted[id]
        return True

    def parted(self, one_id: str, other_id: str) -> bool:
        """Whether a block stands between two users."""
        return other_id in self._parted.get(one_id, NOBODY)

    def of(self, holder_id: str, viewer_id: str) -> Visibility:
        """What the viewer may see of the holder; `HIDDEN` where a block stands between them."""
        if holder_id in self._parted.get(viewer_id, NOBODY):
            return "HIDDEN"
        restrictions = self._restricted.get(viewer_id)
        return "DEFAULT" if restrictions is None else restrictions.get(holder_id, "DEFAULT")

    def hidden_among(self, viewer_id: str, ids: Collection[str]) -> frozenset[str]:
        """Those of the users who look offline to this viewer, whether they are or not."""
        restrictions = self._restricted.get(viewer_id, UNRESTRICTED)
        parted = self._parted.get(viewer_id, NOBODY)
        if not restrictions and not parted:
            return NOBODY
        return frozenset(id for id in ids if id in parted or restrictions.get(id) == "HIDDEN")

    def restrictions_for(self, viewer_id: str) -> Mapping[str, Restriction]:
        """{holder: restriction} of everybody who hides something from this viewer."""
        return self._restricted.get(viewer_id, UNRESTRICTED)
