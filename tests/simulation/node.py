"""One process of a run: its store, its kinds, and the jobs that it runs beside its owners, as the service does."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import trio

from actors.chat.kind import ChatKinds
from actors.errors import Refused
from actors.kernel.clock import Clock
from actors.kernel.directory import System
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Answer
from actors.kernel.supervisor import Fault
from actors.party.absence import Absences
from actors.party.commands import TellPresence
from actors.party.kind import PartyKinds
from actors.party.memberships import Memberships
from actors.party.units import PartyCreation, PartyMade
from actors.users.presence import Presence
from persistence.errors import OutcomeUnknown, PersistenceError
from routes.chat import doubts
from routes.party import doubts as party_doubts
from routes.party import reactions
from routes.party.doubts import MemberInDoubt
from routes.party.reactions import PartyInDoubt
from routes.reconciler import Reconciler
from tests.simulation import party_rows
from tests.simulation.party_reads import (
    create_party,
    in_rows,
    party_in_rows,
    simulated_party,
    stored_memberships,
)
from tests.simulation.requests import Request
from tests.simulation.store import SimulatedStore
from tests.simulation.viewers import Shown

RECONCILE_SECONDS = 1.0
"""Between two turns of the job that reconciles, as in the service."""

PRESENCE_SECONDS = 0.2
"""Between two looks at who has gone, as in the service."""

LOOKS_EACH = 2
"""Of these looks, one in so many is for members who were never reported as away."""


@dataclass(eq=False)
class Node:
    """One process.

    Attributes:
        alive: clients are connected to it, and hear its answers.
        doomed: it is being stopped, or presumed dead.
        waiting: requests that it has not answered.
        asking: requests with a task of their own, which is cut off when the process ends.
        clients: the tasks of clients that wait for it; they end with it.
        strays: users for whom a process has made a party that owned nothing any more.
    """

    name: str
    store: SimulatedStore
    kinds: ChatKinds
    presence: Presence
    strays: set[str]
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    ready: trio.Event = field(default_factory=trio.Event)
    leaving: trio.Event = field(default_factory=trio.Event)
    gone: trio.Event = field(default_factory=trio.Event)
    alive: bool = True
    doomed: bool = False
    waiting: dict[Request, None] = field(default_factory=dict)
    asking: set[Request] = field(default_factory=set)
    system: System = field(init=False)
    parties: PartyKinds = field(init=False)
    memberships: Memberships = field(init=False)
    reconciler: Reconciler = field(init=False)
    since_ms: int = field(init=False)
    clients: trio.Nursery = field(init=False)

    def owner_of(self, kind: str) -> Kind[Any, Any]:
        """The record of a kind."""
        return self.parties.party if kind == party_rows.KIND else self.kinds.conversation

    def shown(self, shows: Shown) -> Any:
        """What a client watches."""
        return {
            "conversation": self.kinds.conversation,
            "inbox": self.kinds.inbox,
            "party": self.parties.own,
        }[shows]

    @asynccontextmanager
    async def remembering(self, clock: Clock) -> AsyncIterator[None]:
        """Read who is in which party, once it owns all and before its owners live; raises PersistenceError."""
        self.since_ms = clock.now_ms()
        self.memberships = Memberships(await self.store.read(stored_memberships))
        self.parties = simulated_party(self.presence.is_online, clock.now_ms, self.memberships)
        self.reconciler = Reconciler(self.store.running_seconds)
        yield

    async def reconcile(self) -> None:
        """The job that asks again what became of turns of unknown outcome."""
        add = self.reconciler.add
        doubts.follow_doubts(self.system, self.kinds, self.reconciler)
        reactions.follow_parties_in_doubt(self.system, self.parties, self.memberships, self.reconciler)
        self.memberships.on_doubt(lambda user_id: add(MemberInDoubt(user_id)))
        while True:
            await trio.sleep(RECONCILE_SECONDS)
            with suppress(PersistenceError):
                await self.reconciler.reconcile(self._show_again)

    async def _show_again(self, about: Any, events: Sequence[Any]) -> None:
        if isinstance(about, PartyInDoubt):
            read = partial(self.store.read, in_rows)
            await reactions.show_again(
                self.system, self.parties, self.memberships, about, events, in_rows=read
            )
        elif isinstance(about, MemberInDoubt):
            where = partial(self.store.read, party_in_rows)
            await party_doubts.settle(self.system, self.parties, self.memberships, about, where)
        else:
            await doubts.show_again(self.system, self.kinds, about, events)

    async def attend(self, clock: Clock) -> None:
        """The jobs that tell parties which of their members are away."""

        def send(party_id: str, command: TellPresence, answer: Callable[[Answer], None]) -> None:
            self.system.post(self.parties.party, party_id, command, answer)

        absences = Absences(self.presence, self.memberships, send, clock.now_ms)
        self.presence.on_change(absences.heard)
        looks = 0
        while True:
            await trio.sleep(PRESENCE_SECONDS)
            self.presence.tick()
            looks += 1
            if looks % LOOKS_EACH == 0:
                absences.look()

    async def found(self, creation: PartyCreation) -> None:
        """A request for a party of one's own; its outcome is reconciled where nobody knows it."""
        made: list[PartyMade] = []

        async def noting(tables: Any, creation: PartyCreation) -> None:
            # Units of work have no fence: that of a process that is presumed dead may land behind its heir's back.
            if tables.leases[0][0] != self.name:
                self.strays.add(creation.actor_id)
            made.extend((await create_party(tables, creation)).events)  # type: ignore[arg-type]

        if self.memberships.of(creation.actor_id) is not None:
            return
        try:
            await self.store.read(in_rows, creation.party_id)  # as the service looks at who is to be invited
            await self.store.transact(noting, creation)
        except OutcomeUnknown:
            self.reconciler.add(PartyInDoubt(creation.party_id), made)
        except PersistenceError:
            pass
        else:
            read = partial(self.store.read, in_rows)
            for event in made:
                try:
                    await reactions.take_in(self.system, self.parties, self.memberships, event, read)
                except (Refused, PersistenceError, Fault):
                    self.reconciler.add(PartyInDoubt(event.party_id))
