"""Resolves the rights of users that are in memory, and keeps them resolved while time passes and the catalog moves.

The catalog of permission nodes matters because some grant by being absent from it (service-api §5 rule 6).
"""

from collections.abc import Collection
from collections.abc import Set as AbstractSet

from actors.kernel.clock import Clock
from actors.kernel.single_flight import SingleFlight
from actors.kernel.store import Store
from actors.users.expiries import Expiries
from actors.users.permissions import ABSENT_GRANTS, Access, moved_by, resolve
from persistence.users.permissions import nodes_of, read_catalog
from persistence.users.users import UserWithRights

MOVES_KEPT = 1_000
"""After so many moves of the catalog all rights are resolved again, each when it is next asked for."""


class Entry:
    """One user in memory.

    Args:
        rights: the user's row, roles and grants as stored.
        access: the access that these resolve to.
        moves: how many of the resolver's moves of the catalog `access` takes into account.

    Attributes:
        user: the user's row, newer than that of `rights` where it was changed since.
        seen_at_ms: when the user was last active, epoch milliseconds, as far as that is written; 0 for never.
        stale: whether rows have changed, so that the rights must be loaded again before they are used.
        told_name: the name that what shows the user was told last; None while it was told none.
    """

    __slots__ = ("access", "moves", "rights", "seen_at_ms", "stale", "told_name", "user")

    def __init__(self, rights: UserWithRights, access: Access, moves: int) -> None:
        self.user = rights.user
        self.rights = rights
        self.access = access
        self.moves = moves
        self.seen_at_ms = rights.user.last_seen_at_ms or 0
        self.stale = False
        self.told_name: str | None = None


class Resolver:
    """Makes entries of stored rights, under the catalog as far as this process knows it.

    Args:
        store: the database.
        clock: the time by which grants expire.
        max_expiries: most users of whom the end of their grants is kept in memory, at least 1.
    """

    def __init__(self, store: Store, clock: Clock, *, max_expiries: int) -> None:
        self._store = store
        self._clock = clock
        # {roles as stored: (access without grants, how many of `_moves` it takes into account)}
        self._of_roles: dict[tuple[str, ...], tuple[Access, int]] = {}
        self._catalog: set[str] | None = None  # shared by every access, and changed in place
        self._moves: list[str] = []  # the nodes that came into it or left it, in order
        self._catalogs: SingleFlight[None, set[str]] = SingleFlight()
        # Bounded like the entries; the sockets of users beyond it find out at their own next check.
        self._expiries = Expiries(max_users=max_expiries)

    def entry(self, rights: UserWithRights, catalog: AbstractSet[str]) -> Entry:
        """A user with their rights resolved.

        Args:
            rights: the user's row, roles and grants as they were read.
            catalog: the catalog as it was before they were read.
        """
        return Entry(rights, self._resolve(rights, catalog), len(self._moves))

    def fresh(self, entry: Entry) -> Access:
        """The rights of an entry as they are now: resolved again if a grant has ended or begun, or the catalog has
        moved."""
        access = entry.access
        until_ms = access.valid_until_ms
        catalog = access.catalog if self._catalog is None else self._catalog
        moved = access.catalog is not catalog or (until_ms is not None and until_ms <= self._clock.now_ms())
        if entry.moves != len(self._moves):
            moved = moved or self._has_moved(access, entry.moves)
            entry.moves = len(self._moves)
        if moved:
            access = entry.access = self._resolve(entry.rights, catalog)
        return access

    def expired(self) -> Collection[str]:
        """The ids of users of whom a grant has ended or begun since the last call."""
        return self._expiries.due(self._clock.now_ms())

    async def catalog(self) -> AbstractSet[str]:
        """The nodes of the catalog, read once for all who ask. Cancellation of one concerns no other.

        Raises:
            DatabaseUnavailable: the database cannot be asked.
        """
        if self._catalog is not None:
            return self._catalog

        async def load() -> set[str]:
            return set(nodes_of(await self._store.read(read_catalog)))

        def keep(catalog: set[str]) -> None:
            self._catalog = catalog

        return await self._catalogs.run(None, load, keep)

    def catalog_grew(self, node: str) -> bool:
        """Note that a node is in the catalog; returns True if that may have changed the rights of any user."""
        self._catalogs.void_all()
        if self._catalog is None or node in self._catalog:
            return False
        self._catalog.add(node)
        self._note((node,))
        return node in ABSENT_GRANTS

    def catalog_shrank(self, nodes: Collection[str]) -> None:
        """Note that nodes have left the catalog; none of them are nodes that grant by being absent."""
        self._catalogs.void_all()
        if self._catalog is not None:
            self._catalog.difference_update(nodes)
            self._note(nodes)

    def forget_catalog(self) -> None:
        """Have the catalog read again before it is used."""
        self._catalog = None
        self._catalogs.void_all()

    def _resolve(self, rights: UserWithRights, catalog: AbstractSet[str]) -> Access:
        now_ms = self._clock.now_ms()
        if not rights.grants:
            access = self._resolve_roles(rights.roles, catalog)
        else:
            access = resolve(rights.roles, rights.grants, catalog, now_ms)
        self._expiries.note(rights.user.id, access.valid_until_ms, now_ms)
        return access

    def _resolve_roles(self, roles: tuple[str, ...], catalog: AbstractSet[str]) -> Access:
        """The access of a user without grants, as most are: users with the same roles share one (1.7 KB a user)."""
        access, moves = self._of_roles.get(roles, (None, 0))
        if access is None or access.catalog is not catalog or self._has_moved(access, moves):
            access = resolve(roles, (), catalog, self._clock.now_ms())
        self._of_roles[roles] = access, len(self._moves)
        return access

    def _note(self, nodes: Collection[str]) -> None:
        """Keep what has moved for whoever asks next."""
        self._moves.extend(nodes)
        if self._catalog is not None and len(self._moves) > MOVES_KEPT:
            # An access with another catalog than this one is resolved again, whatever has moved meanwhile.
            self._catalog = set(self._catalog)
            self._moves.clear()

    def _has_moved(self, access: Access, moves: int) -> bool:
        """Whether the catalog's moves after the first `moves` change the access."""
        return any(moved_by(access, node) for node in self._moves[moves:])
