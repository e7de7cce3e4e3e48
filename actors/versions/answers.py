"""Answers and folders of feeds, kept in memory: most clients of a channel ask the same, and a signature covers 70
KB."""

from collections import OrderedDict
from collections.abc import Hashable

from actors.versions.feeds import Folder
from actors.versions.resolving import ScopeState
from persistence.versions.releases import Scope

FOLDERS_MAX = 300
"""Most scopes whose folder of feeds is kept, as many as are in memory (`catalog.py`)."""

SCOPES_MAX = 300
"""Most scopes of which answers are kept, as many as are in memory; beyond it those of the one that was asked for new
answers longest ago go."""

MAX_BYTES = 16 * 1024 * 1024
"""Most bytes of answers that are kept; beyond it the least recently used answers go."""


class Answers:
    """Answers by what was asked, as long as what they were made from is current.

    Of each scope the answers of one state are kept, and so one state, which is far larger than they: once an answer of
    another state is kept, the former ones go.
    """

    def __init__(self) -> None:
        # {(scope, what was asked): answer}, the least recently used first
        self._kept: OrderedDict[tuple[Scope, Hashable], bytes] = OrderedDict()
        # {scope: (its state, what was asked of it)}, the one of which an answer was kept longest ago first
        self._scopes: OrderedDict[Scope, tuple[ScopeState, set[Hashable]]] = OrderedDict()
        self._bytes = 0

    def get(self, asked: Hashable, state: ScopeState) -> bytes | None:
        """The answer, if it was made from this state."""
        known, key = self._scopes.get(state.scope), (state.scope, asked)
        if known is None or known[0] is not state or key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key]

    def keep(self, asked: Hashable, state: ScopeState, answer: bytes) -> None:
        """Keep an answer in place of a former one; `asked` must name all that it depends on beside the state."""
        scope = state.scope
        known = self._scopes.get(scope)
        if known is not None and known[0] is not state:
            self._forget(scope)
        self._drop(scope, asked)
        self._scopes.setdefault(scope, (state, set()))[1].add(asked)
        self._scopes.move_to_end(scope)
        self._kept[scope, asked] = answer
        self._bytes += len(answer)
        while self._bytes > MAX_BYTES:
            self._drop(*next(iter(self._kept)))
        if len(self._scopes) > SCOPES_MAX:
            self._forget(next(iter(self._scopes)))

    def _forget(self, scope: Scope) -> None:
        for asked in tuple(self._scopes[scope][1]):
            self._drop(scope, asked)

    def _drop(self, scope: Scope, asked: Hashable) -> None:
        answer = self._kept.pop((scope, asked), None)
        if answer is None:
            return
        self._bytes -= len(answer)
        others = self._scopes[scope][1]
        others.discard(asked)
        if not others:
            del self._scopes[scope]


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
