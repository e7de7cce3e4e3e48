"""Users and their rights, cached in memory from the store.

A user is created when their first verified token is seen, and renamed by a newer token with another name (contract
§2). Cached rows are dropped at once when they change: in this process through `changed`, in any other through
PostgreSQL's NOTIFY, which the service passes on to `heard`. A load that runs while its rows change is repeated before
it is answered, so that no caller acts on rights that were revoked before they asked.

When the store cannot be asked, loading raises `DatabaseUnavailable`, a 503: only an answer ever grants anything.
"""

import heapq
from collections.abc import Callable, Coroutine, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from msgspec.structs import replace

from actors.errors import NotFound
from actors.ids import RandomBytes, new_object_id
from actors.kernel.clock import Clock
from actors.kernel.joint_reads import JointReads
from actors.kernel.single_flight import SingleFlight
from actors.kernel.store import Store
from actors.users.last_seen import LastSeen
from actors.users.permissions import ABSENT_GRANTS, BUILT_IN_NODES, Access, moved_by, resolve
from persistence.users.permissions import GREW, RENAMED, nodes_of, read_catalog, seed_catalog
from persistence.users.users import (
    NAME_SLACK_SECONDS,
    User,
    UserWithRights,
    arrive,
    read_with_rights,
)

CAPACITY = 50_000
"""How many users are cached, about 2 KB each; beyond it the one loaded longest ago is evicted."""

AccessListener = Callable[[str], None]
"""Called with a user id whose rights may have changed; "" = any user's."""

RenameListener = Callable[[str, str], None]
"""Called with a user id and the new name."""


class _Entry:
    """One cached user; `stale` = its rows have changed, and its rights must be loaded again before they are used."""

    __slots__ = ("access", "grown", "rights", "seen_at_ms", "stale", "user")

    def __init__(self, rights: UserWithRights, access: Access, grown: int) -> None:
        self.user = rights.user
        self.rights = rights
        self.access = access
        self.grown = grown  # how many nodes added to the catalog `access` takes into account
        self.seen_at_ms = rights.user.last_seen_at_ms or 0
        self.stale = False


class Users:
    """A cache of users and their rights; call `open` once before anything else.

    Args:
        store: the database.
        clock: tells when grants expire.
        random_bytes: for the ids of catalog nodes.
        capacity: users kept in memory, at least 1.
    """

    def __init__(
        self, store: Store, clock: Clock, random_bytes: RandomBytes, *, capacity: int = CAPACITY
    ) -> None:
        self._store = store
        self._clock = clock
        self._random_bytes = random_bytes
        self._capacity = capacity
        self._entries: dict[str, _Entry] = {}
        # {roles as stored: (access without grants, how many of `_grown` it takes into account)}
        self._of_roles: dict[tuple[str, ...], tuple[Access, int]] = {}
        self._reads = JointReads(self._read_together)
        self._loads: SingleFlight[str, UserWithRights | None] = SingleFlight()
        self._arrivals: SingleFlight[tuple[str, str, int], User | None] = SingleFlight()
        self._catalog: set[str] | None = None  # shared by every access, and grown in place
        self._grown: list[str] = []  # the nodes added to it since the start, in order
        self._catalogs: SingleFlight[None, set[str]] = SingleFlight()
        self._expiries: list[tuple[int, str]] = []  # heap of (at_ms, user id); may hold what no longer counts
        self.last_seen = LastSeen(store, self._seen_written)
        self._access_listeners: list[AccessListener] = []
        self._rename_listeners: list[RenameListener] = []

    async def open(self) -> None:
        """Put the built-in nodes into the catalog, and read it.

        Raises:
            DatabaseUnavailable: the store cannot be asked.
        """
        now_ms = self._clock.now_ms()
        ids = {node: new_object_id(now_ms, self._random_bytes) for node in sorted(BUILT_IN_NODES)}
        await self._store.transact(lambda conn: seed_catalog(conn, dict(ids), now_ms))
        await self._read_catalog()

    # Asking
    # ----------------------------------------------------------------------------------------------------

    async def arrive(self, user_id: str, name: str, issued_at_s: int) -> Access:
        """The rights of the user behind a verified token; creates or renames the user where needed.

        Args:
            user_id: `sub`, lower-case uuid.
            name: `name`.
            issued_at_s: `iat`; an older token does not restore a former name.

        Raises:
            NotFound: the user was erased, or the token revoked, since it was issued.
            DatabaseUnavailable: the store cannot be asked.
        """
        entry = await self._entry(user_id)
        if entry is not None and issued_at_s < entry.user.tokens_not_before_s:
            raise NotFound("this token was revoked")
        if entry is None or (
            entry.user.name != name and issued_at_s + NAME_SLACK_SECONDS >= entry.user.name_issued_at_s
        ):
            now_ms = self._clock.now_ms()
            await self._arrivals.run(
                (user_id, name, issued_at_s),
                lambda: self._store.transact(
                    lambda conn: arrive(conn, user_id, name, issued_at_s=issued_at_s, now_ms=now_ms)
                ),
            )
            self._drop(user_id)
            entry = await self._entry(user_id)
        if entry is None:
            raise NotFound("this user was erased")
        return self._fresh(entry)

    def peek_believed(self, user_id: str, issued_at_s: int) -> Access | None:
        """The rights of a cached user; None, too, for a token whose `iat`, `issued_at_s`, is revoked. Never waits."""
        entry = self._entries.get(user_id)
        if entry is None or entry.stale or issued_at_s < entry.user.tokens_not_before_s:
            return None
        return self._fresh(entry)

    def not_before_s(self, user_id: str) -> int:
        """The first valid `iat` of a user's tokens, as far as it is cached; 0 for any."""
        entry = self._entries.get(user_id)
        return 0 if entry is None else entry.user.tokens_not_before_s

    def peek_access(self, user_id: str) -> Access | None:
        """The rights of a cached user, or None; never waits."""
        entry = self._entries.get(user_id)
        return None if entry is None or entry.stale else self._fresh(entry)

    def get(self, user_id: str) -> tuple[User, Access] | Coroutine[Any, Any, tuple[User, Access]]:
        """The row and the rights of a user: at once when they are cached, else as a coroutine that reads them.

        Raises:
            NotFound: there is no such user; only when it is awaited.
            DatabaseUnavailable: the store cannot be asked; only when it is awaited.
        """
        entry = self._entries.get(user_id)
        if entry is None or entry.stale:
            return self._read(user_id)
        return entry.user, self._fresh(entry)

    async def _read(self, user_id: str) -> tuple[User, Access]:
        entry = await self._known(user_id)
        return entry.user, self._fresh(entry)

    async def access_of(self, user_id: str) -> Access:
        """The rights of a user.

        Raises:
            NotFound: there is no such user.
            DatabaseUnavailable: the store cannot be asked.
        """
        return self._fresh(await self._known(user_id))

    async def user_of(self, user_id: str) -> User:
        """The row of a user; `last_seen_of` is newer than its `last_seen_at_ms`.

        Raises:
            NotFound: there is no such user.
            DatabaseUnavailable: the store cannot be asked.
        """
        return (await self._known(user_id)).user

    async def name_of(self, user_id: str) -> str | None:
        """A user's name, or None when there is no such user.

        Raises:
            DatabaseUnavailable: the store cannot be asked.
        """
        entry = await self._entry(user_id)
        return None if entry is None else entry.user.name

    def last_seen_of(self, user: User) -> int | None:
        """When the user was last active, epoch milliseconds, as far as this process knows."""
        return self.last_seen_ms(user.id, user.last_seen_at_ms)

    def last_seen_ms(self, user_id: str, stored_ms: int | None) -> int | None:
        """When a user was last active, epoch milliseconds; `stored_ms` is what their row says."""
        entry = self._entries.get(user_id)
        latest = max(
            stored_ms or 0, self.last_seen.unwritten_ms(user_id), entry.seen_at_ms if entry is not None else 0
        )
        return latest or None

    def peek_name(self, user_id: str) -> str | None:
        """A cached user's name, or None."""
        entry = self._entries.get(user_id)
        return None if entry is None else entry.user.name

    # Changes
    # ---------------------------------------------------------------------------------------------------

    def on_access_change(self, listener: AccessListener) -> None:
        """Call `listener(user_id)`, synchronously, whenever rights may have changed; "" means any user's."""
        self._access_listeners.append(listener)

    def on_rename(self, listener: RenameListener) -> None:
        """Call `listener(user_id, name)`, synchronously, when a user is seen under a new name."""
        self._rename_listeners.append(listener)

    def changed(self, user_id: str) -> None:
        """Drop a user whose rows have changed, and have their sockets' rights checked again."""
        self._drop(user_id)
        self._tell(user_id)

    def revoked(self, user_id: str, not_before_s: int) -> None:
        """Refuse tokens of this user with an `iat` before `not_before_s`, epoch seconds."""
        entry = self._entries.get(user_id)
        if entry is not None:  # also where it is stale: `not_before_s` reads it meanwhile
            entry.user = replace(entry.user, tokens_not_before_s=not_before_s)
        self.changed(user_id)

    def catalog_grew(self, node: str) -> None:
        """Note that a node is in the catalog: it no longer grants by being absent (service-api §5 rule 6)."""
        self._catalogs.void_all()
        if self._catalog is None or node in self._catalog:
            return
        self._catalog.add(node)
        self._grown.append(node)
        if node in ABSENT_GRANTS:
            self._tell("")

    def heard(self, payload: str) -> None:
        """Handle a NOTIFY: a user id, a node that was added to the catalog, a new name, or "" for any change."""
        if payload.startswith(GREW):
            self.catalog_grew(payload.removeprefix(GREW))
        elif payload.startswith(RENAMED):
            user_id, _, name = payload.removeprefix(RENAMED).partition(" ")
            self.changed(user_id)
            self._renamed(user_id, name)
        elif payload:
            self.changed(payload)
        else:
            self._catalog = None
            self._catalogs.void_all()
            self._loads.void_all()
            for entry in self._entries.values():
                entry.stale = True
            self._tell("")

    def __len__(self) -> int:
        """How many users are in memory."""
        return len(self._entries)

    def tick(self) -> None:
        """Tell listeners of users whose grants have expired; to be called every second."""
        now_ms = self._clock.now_ms()
        while self._expiries and self._expiries[0][0] <= now_ms:
            self._tell(heapq.heappop(self._expiries)[1])

    # Within
    # ----------------------------------------------------------------------------------------------------

    def _seen_written(self, user_id: str, at_ms: int) -> None:
        entry = self._entries.get(user_id)
        if entry is not None:
            entry.seen_at_ms = at_ms

    def _tell(self, user_id: str) -> None:
        for listener in self._access_listeners:
            listener(user_id)

    def _drop(self, user_id: str) -> None:
        self._loads.void(user_id)
        entry = self._entries.get(user_id)
        if entry is not None:
            entry.stale = True

    async def _known(self, user_id: str) -> _Entry:
        entry = await self._entry(user_id)
        if entry is None:
            raise NotFound("no such user")
        return entry

    async def _entry(self, user_id: str) -> _Entry | None:
        entry = self._entries.get(user_id)
        if entry is not None and not entry.stale:
            return entry
        catalog = await self._read_catalog()
        rights = await self._loads.run(
            user_id,
            lambda: self._reads.read(user_id),
            lambda rights: self._keep(user_id, rights, catalog),
        )
        if rights is None:
            return None
        # A load that was voided until the end is answered, and not cached: the next caller reads again.
        entry = self._entries.get(user_id)
        if entry is not None and not entry.stale:
            return entry
        return _Entry(rights, self._resolve(rights, catalog), len(self._grown))

    async def _read_together(self, user_ids: Sequence[str]) -> dict[str, UserWithRights]:
        return await self._store.read(lambda conn: read_with_rights(conn, user_ids))

    async def _read_catalog(self) -> set[str]:
        if self._catalog is not None:
            return self._catalog

        async def load() -> set[str]:
            return set(nodes_of(await self._store.read(read_catalog)))

        def keep(catalog: set[str]) -> None:
            self._catalog = catalog

        return await self._catalogs.run(None, load, keep)

    def _keep(self, user_id: str, rights: UserWithRights | None, catalog: AbstractSet[str]) -> None:
        before = self._entries.pop(user_id, None)
        if rights is None:
            return
        if len(self._entries) >= self._capacity:
            del self._entries[next(iter(self._entries))]
        self._entries[user_id] = _Entry(rights, self._resolve(rights, catalog), len(self._grown))
        if before is not None and before.user.name != rights.user.name:
            self._tell_name(user_id, rights.user.name)

    def _renamed(self, user_id: str, name: str) -> None:
        """Tell of a new name, unless it is known; also where the user is not in memory: what shows them may be."""
        entry = self._entries.get(user_id)
        if entry is None:
            self._tell_name(user_id, name)
        elif entry.user.name != name:
            entry.user = replace(entry.user, name=name)
            self._tell_name(user_id, name)

    def _tell_name(self, user_id: str, name: str) -> None:
        for listener in self._rename_listeners:
            listener(user_id, name)

    def _resolve(self, rights: UserWithRights, catalog: AbstractSet[str]) -> Access:
        if not rights.grants:
            return self._resolve_roles(rights.roles, catalog)
        access = resolve(rights.roles, rights.grants, catalog, self._clock.now_ms())
        # The heap is bounded like the entries; the sockets of users beyond it find out at their own next check.
        if access.valid_until_ms is not None and len(self._expiries) < self._capacity:
            heapq.heappush(self._expiries, (access.valid_until_ms, rights.user.id))
        return access

    def _resolve_roles(self, roles: tuple[str, ...], catalog: AbstractSet[str]) -> Access:
        """The access of a user without grants, as most are: users with the same roles share one (1.7 KB a user)."""
        access, grown = self._of_roles.get(roles, (None, 0))
        if access is None or access.catalog is not catalog or self._has_moved(access, grown):
            access = resolve(roles, (), catalog, self._clock.now_ms())
        self._of_roles[roles] = access, len(self._grown)
        return access

    def _has_moved(self, access: Access, grown: int) -> bool:
        """Whether nodes added to the catalog after the first `grown` change the access."""
        return any(moved_by(access, node) for node in self._grown[grown:])

    def _fresh(self, entry: _Entry) -> Access:
        access = entry.access
        until_ms = access.valid_until_ms
        catalog = access.catalog if self._catalog is None else self._catalog
        moved = access.catalog is not catalog or (until_ms is not None and until_ms <= self._clock.now_ms())
        if entry.grown != len(self._grown):
            moved = moved or self._has_moved(access, entry.grown)
            entry.grown = len(self._grown)
        if moved:
            access = entry.access = self._resolve(entry.rights, catalog)
        return access
