"""What memory holds of scopes: their pointers, and the releases that these name.

Every client that looks for an update asks for this, so it is read once for all of them, and again after a change. Only
scopes of which a channel points to something are held, and there are few of them: a scope that does not exist costs no
query.
"""

from actors.kernel.single_flight import SingleFlight
from actors.kernel.store import Store
from actors.versions.resolving import ScopeState
from persistence.connection import Connection
from persistence.journal import journal
from persistence.versions import pointers, releases
from persistence.versions.releases import Scope

SCOPES_MAX = 300
"""Most scopes that are held; beyond it the one read longest ago is dropped, and read again when it is asked for."""


class Catalog:
    """The scopes of which a channel points to something; call `open` before anything else.

    Args:
        store: the database.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._scopes: set[Scope] = set()
        self._states: dict[Scope, ScopeState] = {}
        self._loads: SingleFlight[Scope, ScopeState] = SingleFlight()

    async def open(self) -> None:
        """Read which scopes there are.

        Raises:
            DatabaseUnavailable: the database cannot be asked.
        """
        self._scopes = set(await self._store.read(pointers.all_scopes))

    def __len__(self) -> int:
        """How many scopes are in memory."""
        return len(self._states)

    async def state_of(self, scope: Scope) -> ScopeState | None:
        """The pointers and releases of a scope; None when no channel of it points to anything.

        Raises:
            DatabaseUnavailable: the database cannot be asked.
        """
        if scope not in self._scopes:
            return None
        state = self._states.get(scope)
        if state is None:
            state = await self._loads.run(
                scope,
                lambda: self._store.read(lambda conn: _load(conn, scope)),
                lambda loaded: self._keep(scope, loaded),
            )
        return state if state.pointers else None

    def changed(self, scope: Scope) -> None:
        """Have a scope, of which a release or a pointer has changed, read again when it is asked for."""
        self._scopes.add(scope)
        self._loads.void(scope)
        self._states.pop(scope, None)

    async def reread(self) -> None:
        """Read again which scopes there are, and each when it is asked for: changes may not have been told.

        Scopes that are gone stay known, and have no pointers when they are read. Cancellation changes nothing.

        Raises:
            DatabaseUnavailable: the database cannot be asked; nothing has changed.
        """
        for scope in {*await self._store.read(pointers.all_scopes), *self._scopes}:
            self.changed(scope)

    def _keep(self, scope: Scope, state: ScopeState) -> None:
        if len(self._states) >= SCOPES_MAX:
            del self._states[next(iter(self._states))]
        self._states[scope] = state
        if not state.pointers:
            self._scopes.discard(scope)


async def _load(conn: Connection, scope: Scope) -> ScopeState:
    async with journal.consistent(conn):
        found = {one.channel: one for one in await pointers.of_scope(conn, scope)}
        ids = {
            id for one in found.values() for id in (one.release_id, one.previous_release_id) if id is not None
        }
        named = {one.id: one for one in await releases.read_releases(conn, sorted(ids))}
        released = await releases.versions_of_scope(conn, scope)
    mandatory = tuple(
        one.version for one in released if one.status == "published" and one.update_policy == "mandatory"
    )
    return ScopeState(scope, found, named, frozenset(one.version for one in released), mandatory)
