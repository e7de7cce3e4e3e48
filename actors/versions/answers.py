"""Answers and folders of feeds, kept in memory: most clients of a channel ask the same, and a signature covers 70
KB."""

from collections import OrderedDict
from collections.abc import Hashable

from actors.versions.feeds import Folder
from actors.versions.resolving import ScopeState
from persistence.versions.releases import Scope

FOLDERS_MAX = 300
"""Most scopes whose folder of feeds is kept, as many as are in memory (`catalog.py`)."""

MAX_BYTES = 16 * 1024 * 1024
"""Most bytes of answers that are kept; beyond it the least recently used answers go."""


class Answers:
    """Answers by what was asked, as long as what they were made from is current."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, tuple[ScopeState, bytes]] = OrderedDict()
        self._bytes = 0

    def get(self, asked: Hashable, state: ScopeState) -> bytes | None:
        """The answer, if it was made from this state."""
        kept = self._kept.get(asked)
        if kept is None or kept[0] is not state:
            return None
        self._kept.move_to_end(asked)
        return kept[1]

    def keep(self, asked: Hashable, state: ScopeState, answer: bytes) -> None:
        """Keep an answer in place of a former one; `asked` must name all that it depends on beside the state."""
        former = self._kept.pop(asked, None)
        self._bytes += len(answer) - (0 if former is None else len(former[1]))
        self._kept[asked] = state, answer
        while self._bytes > MAX_BYTES:
            _, (_, dropped) = self._kept.popitem(last=False)
            self._bytes -= len(dropped)


class Folders:
    """The folders of feeds, as long as what they were made from is current."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Scope, tuple[ScopeState, Folder]] = OrderedDict()

    def get(self, state: ScopeState) -> Folder | None:
        """The folder, if it was made from this state."""
        kept = self._kept.get(state.scope)
        return kept[1] if kept is not None and kept[0] is state else None

    def keep(self, state: ScopeState, folder: Folder) -> None:
        """Keep a folder in place of a former one of the scope."""
        self._kept.pop(state.scope, None)
        self._kept[state.scope] = state, folder
        if len(self._kept) > FOLDERS_MAX:
            self._kept.popitem(last=False)
