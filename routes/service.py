"""Everything that is open while the service runs: the objects that all domains share, and the parts of each domain.

Nothing of it is global: functions are given the `Service`, so that two services can run in one process (the tests do
that) and none outlives its block (`startup.py`).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar, TypeVarTuple, cast

from actors.ids import ObjectIds, RandomBytes, UserId
from actors.kernel.clock import Clock
from actors.kernel.directory import System
from actors.kernel.placement import Placement
from actors.kernel.single_flight import SingleFlight
from actors.kernel.turnstile import Turnstile
from persistence.bridge.database import Database
from persistence.connection import Unit
from persistence.nodes.members import State
from routes.config.config import Config
from routes.disk import Disk
from routes.edge.documents import Documents
from routes.edge.identity.credentials import Authenticator, ServerAuthenticator
from routes.edge.identity.keys import Keys
from routes.edge.incoming import arriving_bodies
from routes.edge.limits import Limits
from routes.edge.pipeline.metrics import Metrics
from routes.edge.tabs import Tabs
from routes.edge.transport.lateness import Lateness
from routes.edge.unsent import Unsent
from routes.edge.websocket.registry import Sockets
from routes.jobs import Housekeeping
from routes.joining import Node
from routes.lifecycle import Lifecycle
from routes.live.channels import Channels
from routes.part import Part
from routes.passing_on import PassingOn
from routes.reconciler import Reconciler
from routes.telemetry.seams import PLAIN, Seams

T = TypeVar("T")
Args = TypeVarTuple("Args")

React: TypeAlias = Callable[["Service", Any], Awaitable[None] | None]
"""What a domain does after an event was committed; is given the event."""

AskRows: TypeAlias = Callable[["Service", Any, Sequence[Any]], Awaitable[Sequence[object]]]
"""Reads the rows of a subject whose memory may be stale; returns the events that the reactions must be called with."""

OfUser: TypeAlias = Callable[["Service", UserId], Awaitable[None]]
"""What a domain does about one user."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Service:
    """The objects that are open while the service runs.

    Args:
        config: the configuration, as read from the environment.
        clock: the time that the rules go by.
        random_bytes: the random source of codes and tokens.
        ids: makes object ids, in the trio thread only.
        lifecycle: the phase of the process: starting, serving or draining.
        database: PostgreSQL, through the bridge.
        placement: says which actors and jobs are this node's.
        node: this node among others; None for a node that serves alone.
        system: the actor system, by which all actors are reached.
        keys: the server's own keys.
        limits: the buckets of the rate limits.
        sockets: all open live sockets.
        channels: the channels that can be watched on `/v1/social/live`.
        authenticator: verifies the tokens of users.
        server_authenticator: verifies the credentials of game servers.
        parts: {part: the object that it opened} of all domains.
        let_go: called before a user is erased, one function a domain.
        forget_user: called after a user was erased, one function a domain.
        metrics: the metrics that `/metrics` shows.
        reads: the reads that are shared right now (`read_shared`).
        documents: responses that never change, made once.
        arriving: accounts of the bytes of arriving request bodies.
        unsent: accounts of the bytes that wait for slow clients.
        lateness: measures how long bytes of clients wait until they are read.
        reactions: {type of event: its reactions}.
        memory_reactions: those of the reactions that every node calls, also for events of other nodes.
        reconciliations: {type of subject: the function that reloads it from rows}.
        reconciler: subjects whose last change has an unknown outcome.
        turnstile: serialises operations of one user that concern several actors.
        housekeeping: the record of the jobs' runs and failures.
        disk: the measured sizes of tables.
        seams: wrappers that observe requests, turns and units of work, for telemetry.
    """

    config: Config
    clock: Clock
    random_bytes: RandomBytes
    ids: ObjectIds
    lifecycle: Lifecycle
    database: Database
    placement: Placement
    node: Node | None
    system: System
    keys: Keys
    limits: Limits
    sockets: Sockets
    channels: Channels
    authenticator: Authenticator
    server_authenticator: ServerAuthenticator
    parts: Mapping[Part[Any], Any]
    let_go: tuple[OfUser, ...]
    forget_user: tuple[OfUser, ...]
    reactions: Mapping[type, tuple[React, ...]]
    memory_reactions: Mapping[type, tuple[React, ...]]
    reconciliations: Mapping[type, AskRows]
    reconciler: Reconciler
    metrics: Metrics = field(default_factory=Metrics)
    reads: SingleFlight[object, object] = field(default_factory=SingleFlight)
    documents: Documents = field(default_factory=Documents)
    arriving: Tabs = field(default_factory=arriving_bodies)
    unsent: Unsent = field(default_factory=Unsent)
    lateness: Lateness = field(default_factory=Lateness)
    turnstile: Turnstile = field(default_factory=Turnstile)
    housekeeping: Housekeeping = field(default_factory=Housekeeping)
    disk: Disk = field(default_factory=Disk)
    seams: Seams = PLAIN

    @property
    def others(self) -> PassingOn | None:
        """The other nodes, to which requests can be passed on; None for a node that serves alone."""
        return None if self.node is None else self.node.passing_on

    async def heard(self) -> None:
        """Wait until the other nodes have heard of all turns of this node's actors so far, for a moment at most.

        A caller who asks another node next then finds what was done. Returns at once where there is no other node.
        Cancellation ends the wait.
        """
        if self.node is not None:
            await self.node.retelling.wait_heard()

    async def read_shared(self, unit: Unit[*Args, T], *args: *Args) -> T:
        """Run a unit as `Database.read` does, once for all who ask for the same at that moment: a caller may get
        what a read has found that began before it asked.

        Args:
            unit, args: hashable; together they name what is read.
        """
        return cast(T, await self.reads.run((unit, *args), partial(self.database.read, unit, *args)))

    @property
    def draining(self) -> bool:
        """Whether the process was asked to stop."""
        return self.lifecycle.draining

    @property
    def leaving(self) -> bool:
        """Whether this node is giving its shards to the others, before it drains."""
        return self.node is not None and self.node.membership.state is State.LEAVING

    def of(self, part: Part[T]) -> T:
        """The object that a part of a domain has opened.

        Raises:
            KeyError: no domain of this service has such a part.
        """
        opened: T = self.parts[part]
        return opened
