"""Who shows themselves differently to whom (contract §5): the links whose visibility is not `DEFAULT`.

They are few, so all of them are in memory, read at the start and told of each change; everything that shows a user
to another asks here, and nearly always finds nothing.
"""

from collections.abc import Iterable, Mapping
from itertools import count
from types import MappingProxyType
from typing import Literal

from persistence.friends.visibilities import Visibility

Veil = Literal["LIMITED", "HIDDEN"]
"""A visibility that hides something."""

TURNS_KEPT = 1_000
"""So many links' newest turns are known; changes that are told of in the wrong order follow each other closely."""

NOBODY: frozenset[str] = frozenset()

NO_VEILS: Mapping[str, Veil] = MappingProxyType({})


class Visibilities:
    """What holders of links have chosen for their friends."""

    def __init__(self) -> None:
        self._veils: dict[str, dict[str, Veil]] = {}  # {viewer: {holder: veil}}
        self._turns: dict[
            tuple[str, str], int
        ] = {}  # {(holder, viewer): turn of the newest change}, the newest
        self._numbers = count(1)

    def next_turn(self) -> int:
        """A number for a change, larger than all before it.

        To be taken inside the transaction once it has locked what it changes: then the numbers of two changes of one
        link are in the order of their commits, in whatever order they are told of. Any thread may ask.
        """
        return next(self._numbers)

    def fill(self, chosen: Iterable[tuple[str, str, Visibility]]) -> None:
        """Take in all that is stored: (holder, viewer, visibility)."""
        for holder_id, viewer_id, visibility in chosen:
            self.change(holder_id, viewer_id, visibility)

    def change(self, holder_id: str, viewer_id: str, visibility: Visibility, turn: int | None = None) -> bool:
        """The holder has chosen this for the viewer; also `DEFAULT`, when the link has ended. False if it was so.

        Args:
            turn: of the change; one that is older than what is known already is passed over.
        """
        if turn is not None and not self._is_newest(holder_id, viewer_id, turn):
            return False
        veils = self._veils.get(viewer_id, {})
        if veils.get(holder_id, "DEFAULT") == visibility:
            return False
        # A new dict, because whoever has the old one may be walking it.
        veils = {id: veil for id, veil in veils.items() if id != holder_id}
        if visibility != "DEFAULT":
            veils[holder_id] = visibility
        if veils:
            self._veils[viewer_id] = veils
        else:
            self._veils.pop(viewer_id, None)
        return True

    def _is_newest(self, holder_id: str, viewer_id: str, turn: int) -> bool:
        known = self._turns.pop((holder_id, viewer_id), 0)
        if len(self._turns) >= TURNS_KEPT:
            del self._turns[next(iter(self._turns))]
        self._turns[holder_id, viewer_id] = max(known, turn)
        return turn > known

    def of(self, holder_id: str, viewer_id: str) -> Visibility:
        """What the viewer sees of the holder."""
        veils = self._veils.get(viewer_id)
        return "DEFAULT" if veils is None else veils.get(holder_id, "DEFAULT")

    def hidden_from(self, viewer_id: str) -> frozenset[str]:
        """Everybody who looks offline to this viewer."""
        veils = self._veils.get(viewer_id)
        if veils is None:
            return NOBODY
        return frozenset(holder_id for holder_id, veil in veils.items() if veil == "HIDDEN")

    def before(self, viewer_id: str) -> Mapping[str, Veil]:
        """{holder: veil} of everybody who hides something from this viewer."""
        return self._veils.get(viewer_id, NO_VEILS)
