"""Users and their rights (`resolver.py`), cached in memory from the store.

A user is created when their first verified token is seen, and renamed by a newer token with another name (contract
§2). Cached rows are dropped at once when they change: in this process through `changed`, in any other through
PostgreSQL's NOTIFY, which the service passes on to `heard`. A load that runs while its rows change is repeated before
it is answered, so that no caller acts on rights that were revoked before they asked.

When the database cannot be asked, loading raises `DatabaseUnavailable`, a 503: only an answer ever grants anything.
"""

from collections.abc import Callable, Collection, Coroutine, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, TypeAlias

from msgspec.structs import replace

from actors.errors import NotFound
from actors.ids import RandomBytes, new_object_id
from actors.kernel.clock import Clock
from actors.kernel.joint_reads import JointReads
from actors.kernel.single_flight import SingleFlight
from actors.kernel.store import Store
from actors.users.last_seen import LastSeen
from actors.users.permissions import ABSENT_GRANTS, BUILT_IN_NODES, Access
from actors.users.resolver import Entry, Resolver
from persistence.users.permissions import ANY, GREW, RENAMED, seed_catalog
from persistence.users.users import NAME_SLACK_SECONDS, User, UserWithRights, arrive, read_with_rights

CAPACITY = 50_000
"""How many users are cached, about 2 KB each; beyond it the one loaded longest ago is evicted."""

Loaded: TypeAlias = tuple[UserWithRights, AbstractSet[str]]
"""The stored user with their rights, and the catalog as it was before these were read."""

AccessListener = Callable[[str], None]
"""Called with the id of a user whose rights may have changed; "" for any user's."""

RenameListener = Callable[[str, str], None]
"""Called with the id of a user and their new name."""


class Users:
    """A cache of users and their rights; call `open` once before anything else.

    Args:
        store: the database.
        clock: the time by which grants expire.
        random_bytes: the source of ids for nodes of the catalog.
        capacity: most users kept in memory, at least 1.
    """

    def __init__(
        self, store: Store, clock: Clock, random_bytes: RandomBytes, *, capacity: int = CAPACITY
    ) -> None:
        self._store = store
        self._clock = clock
        self._random_bytes = random_bytes
        self._capacity = capacity
        self._resolver = Resolver(store, clock, max_expiries=capacity)
        self._entries: dict[str, Entry] = {}
        self._reads = JointReads(self._read_together)
        self._loads: SingleFlight[str, Loaded | None] = SingleFlight()
        self._arrivals: SingleFlight[tuple[str, str, int], User | None] = SingleFlight()
        self.last_seen = LastSeen(store, self._seen_written)
        self._access_listeners: list[AccessListener] = []
        self._rename_listeners: list[RenameListener] = []

    async def open(self) -> None:
        """Put the built-in nodes into the catalog, and read it.

        Raises:
            DatabaseUnavailable: the database cannot be asked.
        """
        now_ms = self._clock.now_ms()
        ids = {node: new_object_id(now_ms, self._random_bytes) for node in sorted(BUILT_IN_NODES)}
        await self._store.transact(lambda conn: seed_catalog(conn, dict(ids), now_ms))
        await self._resolver.catalog()

    # Asking
    # ----------------------------------------------------------------------------------------------------

    async def arrive(self, user_id: str, name: str, issued_at_s: int) -> Access:
        """The rights of the user behind a verified token; creates or renames the user where needed.

        Args:
            user_id: the token's `sub`, a lower-case uuid.
            name: the token's `name`.
            issued_at_s: the token's `iat`, epoch seconds; an older token does not restore a former name.

        Raises:
            NotFound: the user was erased, or the token revoked, since it was issued.
            DatabaseUnavailable: the database cannot be asked.
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
            # Another token may have brought the user back meanwhile.
            if entry is not None and issued_at_s < entry.user.tokens_not_before_s:
                raise NotFound("this token was revoked")
        if entry is None:
            raise NotFound("this user was erased")
        return self._resolver.fresh(entry)

    def peek_believed(self, user_id: str, issued_at_s: int) -> Access | None:
        """The rights of a cached user; None, too, for a token whose `iat`, `issued_at_s`, is revoked. Never waits."""
        entry = self._entries.get(user_id)
        if entry is None or entry.stale or issued_at_s < entry.user.tokens_not_before_s:
            return None
        return self._resolver.fresh(entry)

    def not_before_s(self, user_id: str) -> int:
        """The first valid `iat` of a user's tokens, as far as it is cached; 0 for any."""
        entry = self._entries.get(user_id)
        return 0 if entry is None else entry.user.tokens_not_before_s

    def peek_access(self, user_id: str) -> Access | None:
        """The rights of a cached user, or None; never waits."""
        entry = self._entries.get(user_id)
        return None if entry is None or entry.stale else self._resolver.fresh(entry)

    def get(self, user_id: str) -> tuple[User, Access] | Coroutine[Any, Any, tuple[User, Access]]:
        """The row and the rights of a user: at once when they are cached, else as a coroutine that reads them.

        Raises:
            NotFound: there is no such user; only when it is awaited.
            DatabaseUnavailable: the database cannot be asked; only when it is awaited.
        """
        entry = self._entries.get(user_id)
        if entry is None or entry.stale:
            return self._read(user_id)
        return entry.user, self._resolver.fresh(entry)

    async def _read(self, user_id: str) -> tuple[User, Access]:
        entry = await self._require_entry(user_id)
        return entry.user, self._resolver.fresh(entry)

    async def access_of(self, user_id: str) -> Access:
        """The rights of a user.

        Raises:
            NotFound: there is no such user.
            DatabaseUnavailable: the database cannot be asked.
        """
        return self._resolver.fresh(await self._require_entry(user_id))

    async def user_of(self, user_id: str) -> User:
        """The row of a user; `last_seen_of` is newer than its `last_seen_at_ms`.

        Raises:
            NotFound: there is no such user.
            DatabaseUnavailable: the database cannot be asked.
        """
        return (await self._require_entry(user_id)).user

    async def name_of(self, user_id: str) -> str | None:
        """A user's name, or None when there is no such user.

        Raises:
            DatabaseUnavailable: the database cannot be asked.
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
        if self._resolver.catalog_grew(node):
            self._tell("")

    def catalog_shrank(self, nodes: Collection[str]) -> None:
        """Note that nodes are no longer in the catalog: super-admins, and who holds a pattern, no longer hold them."""
        self._resolver.catalog_shrank(nodes)

    def heard(self, payload: str) -> None:
        """Handle a NOTIFY: a user id, a node that was added to the catalog, a new name, or `ANY`."""
        node = payload.removeprefix(GREW) if payload.startswith(GREW) else None
        if node in ABSENT_GRANTS:
            payload, node = (
                ANY,
                None,
            )  # it may have been withdrawn since, of which memory can have heard before
        if node is not None:
            self.catalog_grew(node)
        elif payload.startswith(RENAMED):
            user_id, _, name = payload.removeprefix(RENAMED).partition(" ")
            self.changed(user_id)
            self._renamed(user_id, name)
        elif payload != ANY:
            self.changed(payload)
        else:
            self._resolver.forget_catalog()
            self._loads.void_all()
            for entry in self._entries.values():
                entry.stale = True
            self._tell("")

    def tell_name(self, user_id: str, name: str) -> None:
        """Tell listeners of a user's present name, whether they know it or not."""
        entry = self._entries.get(user_id)
        if entry is not None:
            entry.told_name = name
            if entry.user.name != name:
                entry.user = replace(entry.user, name=name)
        for listener in self._rename_listeners:
            listener(user_id, name)

    def __len__(self) -> int:
        """How many users are in memory."""
        return len(self._entries)

    def tick(self) -> None:
        """Tell listeners of users whose grants have expired; to be called every second."""
        for user_id in self._resolver.expired():
            self._tell(user_id)

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

    async def _require_entry(self, user_id: str) -> Entry:
        entry = await self._entry(user_id)
        if entry is None:
            raise NotFound("no such user")
        return entry

    async def _entry(self, user_id: str) -> Entry | None:
        entry = self._entries.get(user_id)
        if entry is not None and not entry.stale:
            return entry
        loaded = await self._loads.run(user_id, partial(self._load, user_id), partial(self._keep, user_id))
        if loaded is None:
            return None
        # A load that was voided until the end is answered, and not cached: the next caller reads again.
        entry = self._entries.get(user_id)
        if entry is not None and not entry.stale:
            return entry
        return self._resolver.entry(*loaded)

    async def _load(self, user_id: str) -> Loaded | None:
        # The catalog first, and with each repetition: a node that it lacks grants by being absent.
        catalog = await self._resolver.catalog()
        rights = await self._reads.read(user_id)
        return None if rights is None else (rights, catalog)

    async def _read_together(self, user_ids: Sequence[str]) -> dict[str, UserWithRights]:
        return await self._store.read(lambda conn: read_with_rights(conn, user_ids))

    def _keep(self, user_id: str, loaded: Loaded | None) -> None:
        before = self._entries.pop(user_id, None)
        if loaded is None:
            return
        if len(self._entries) >= self._capacity:
            del self._entries[next(iter(self._entries))]
        entry = self._entries[user_id] = self._resolver.entry(*loaded)
        if before is not None:
            entry.told_name = before.told_name
            if before.user.name != entry.user.name:
                self.tell_name(user_id, entry.user.name)

    def _renamed(self, user_id: str, name: str) -> None:
        """Tell of a new name, unless that was done; also where the user is not in memory: what shows them may be.

        Who was read since the name was stored has it already, and nobody was told.
        """
        entry = self._entries.get(user_id)
        if entry is None or entry.told_name != name:
            self.tell_name(user_id, name)
