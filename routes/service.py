"""Everything that is open while the service runs, and the order in which it is opened.

`open_service` opens configuration → database → placement → actor system → everything that ticks, and closes in
reverse. Nothing of it is global: whoever needs a part is given the `Service`, so that two services can live in one
process (the tests do that) and none outlives its block.
"""

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import structlog
import trio

from actors.chat.conversation import ChatKinds, chat_kinds
from actors.connect.domain import Connect, open_connect
from actors.friends.circles import Circles
from actors.friends.live import FriendsLive
from actors.friends.streaks import Streaks
from actors.friends.visibility import Visibilities
from actors.ids import ObjectIds, RandomBytes, is_uuid
from actors.ip import Places
from actors.kernel.clock import Clock, SystemClock
from actors.kernel.directory import System, open_system
from actors.kernel.kind import Kind, View
from actors.kernel.placement import open_local_placement
from actors.kernel.single_flight import SingleFlight
from actors.kernel.turnstile import Turnstile
from actors.notifications import NOTIFICATIONS, NotificationsState
from actors.party.memberships import Memberships
from actors.party.party import PartyKinds, party_kinds
from actors.party.rendered import Rendered
from actors.presence import Presence
from actors.publications.statuses import Statuses
from actors.users import Users
from persistence.blobs import Blobs
from persistence.bridge import Database, open_database
from persistence.checks import check_server, running_seconds
from persistence.data_dir import hold_data_dir, node_name
from persistence.embedded import embedded_postgres
from persistence.embedded_cluster import ClusterInUse
from persistence.friends.blocks import parted
from persistence.friends.visibilities import veiled
from persistence.migrate import migrate
from persistence.party.rows import memberships as stored_memberships
from routes.capes.workshop import CapeWorkshop
from routes.connect.attending import Attending
from routes.connect.authenticator import ServerCredentials
from routes.disk import Disk
from routes.domain import Domains, channels_of, kinds_of
from routes.edge.config.table import Config
from routes.edge.documents import Documents
from routes.edge.identity.issuers import Issuers
from routes.edge.identity.key_files import close_to_others
from routes.edge.identity.keys import Keys, open_keys
from routes.edge.incoming import arriving_bodies
from routes.edge.limits import Limits
from routes.edge.pipeline.metrics import Metrics
from routes.edge.tabs import Tabs
from routes.edge.unsent import Unsent
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.registry import MAX_PER_USER, Sockets
from routes.edge.websocket.socket import LiveSocket
from routes.housekeeping import Housekeeping, Job, Standing, keep_house, keep_standing
from routes.lifecycle import Lifecycle
from routes.live.channels import Channels
from routes.live.rights import Rights
from routes.networks.name_service import Networks, open_networks
from routes.reconciler import Reconciler
from routes.users.authenticator import Authenticator

log = structlog.get_logger()

HOLD_SECONDS = 5.0
"""A command such as `partyline token` holds the data folder for a moment when no server runs; a start waits for it."""

HOLD_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Service:
    """The parts, each opened once.

    Args:
        config: as read from the environment.
        clock: the time that rules see.
        domains: all that it serves.
        channels: what can be watched on `/v1/social/live`.
        random_bytes: where codes and tokens come from.
        ids: where object ids come from, in the trio thread.
        lifecycle: starting, serving, draining.
        database: PostgreSQL, through the bridge.
        system: all actors.
        chat: the kinds of the chat domain.
        notifications: the view of each user's notifications.
        friends: how users appear to each other, and the view of a user's friends.
        capes: decodes uploaded textures, counts downloads.
        streaks: on which days two were in touch.
        parties: the kinds of the party domain.
        memberships: who is in which party.
        users: who is here and what they may do.
        keys: the server's own keys.
        authenticator: verifies the tokens of users.
        connect: game servers, and who plays on them.
        server_authenticator: verifies the credentials of game servers.
        networks: who asks and writes DNS for networks.
        totem_checks: uploads of totems that are looked at; more of them wait.
        upload_checks: attachments that are checked or written; more of them wait.
        attending: who waits for game servers, and which of them listen.
        limits: the buckets of the rate limits.
        presence: who is online.
        blobs: the stored bytes of attachments.
        places: where addresses are.
        statuses: what game servers say of themselves.
        sockets: all open live sockets.
        rights: tells open streams that rights have moved.
        metrics: what `/metrics` shows.
        reads: equal reads under way at once are one.
        documents: what never changes, made once.
        arriving: bodies of requests that are received piece by piece.
        unsent: what waits for clients that do not read, counted and bounded.
        reconciler: changes of which nobody knows whether they were made.
        turnstile: what one user does to several owners takes turns.
        housekeeping: what became of the jobs.
        disk: what tables take on disk.
    """

    config: Config
    clock: Clock
    domains: Domains
    channels: Channels
    random_bytes: RandomBytes
    ids: ObjectIds
    lifecycle: Lifecycle
    database: Database
    system: System
    chat: ChatKinds
    notifications: View[NotificationsState]
    friends: FriendsLive
    capes: CapeWorkshop
    streaks: Streaks
    parties: PartyKinds
    memberships: Memberships
    users: Users
    keys: Keys
    authenticator: Authenticator
    connect: Connect
    server_authenticator: ServerCredentials
    networks: Networks
    limits: Limits
    presence: Presence
    blobs: Blobs
    places: Places
    statuses: Statuses
    sockets: Sockets
    rights: Rights
    metrics: Metrics = field(default_factory=Metrics)
    reads: SingleFlight[object, object] = field(default_factory=SingleFlight)
    totem_checks: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(2))
    upload_checks: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(2))
    attending: Attending = field(default_factory=Attending)
    documents: Documents = field(default_factory=Documents)
    arriving: Tabs = field(default_factory=arriving_bodies)
    unsent: Unsent = field(default_factory=Unsent)
    reconciler: Reconciler = field(default_factory=Reconciler)
    turnstile: Turnstile = field(default_factory=Turnstile)
    housekeeping: Housekeeping = field(default_factory=Housekeeping)
    disk: Disk = field(default_factory=Disk)

    @property
    def draining(self) -> bool:
        """True from the wish to stop until the end."""
        return self.lifecycle.draining


@asynccontextmanager
async def open_service(
    config: Config, domains: Domains, clock: Clock | None = None
) -> AsyncIterator[Service]:
    """Open everything, in order, and close it in reverse. Must run in the main thread (see `embedded_postgres`).
    Cancellation closes what is open; what was acknowledged is in the database before anybody could cancel.

    Args:
        config: as read from the environment.
        domains: all that it shall serve.
        clock: the time of all rules; None takes the system's.

    Raises:
        ClusterInUse, ClusterFaulty, NoPostgres, DatabaseUnfit, MigrationChanged, KeyFault: with one line that says why.
        DatabaseUnavailable: the database does not answer, or another node holds it.
    """
    async with AsyncExitStack() as stack:
        service, issuers = await _open_parts(stack, config, domains, clock or SystemClock())
        async with _serving(service, issuers):
            yield service


async def _open_parts(
    stack: AsyncExitStack, config: Config, domains: Domains, clock: Clock
) -> tuple[Service, Issuers]:
    database = await _open_database(stack, config)
    keys = await trio.to_thread.run_sync(_open_keys, config.data_dir)
    users = await _open_users(database, clock)
    issuers = Issuers(config.jwt_issuers, clock)
    presence = Presence(clock)
    memberships, friends = await _open_friends(database, presence, users, clock)
    streaks = Streaks(database, friends.changed)
    connect = await open_connect(database, presence, keys.derive("settings of game servers"))
    chat = chat_kinds(presence.is_online, clock.now_ms, friends, streaks.contact)
    parties = _party_kinds(presence, friends, memberships, clock)
    kinds: tuple[Kind[Any, Any], ...] = (chat.conversation, connect.server, parties.party, *kinds_of(domains))
    rng = Random(secrets.randbits(128))
    system = await _open_system(stack, config, database, clock, kinds=kinds, rng=rng)
    service = Service(
        config=config,
        clock=clock,
        domains=domains,
        channels=channels_of(domains),
        random_bytes=secrets.token_bytes,
        ids=ObjectIds(secrets.token_bytes),
        lifecycle=Lifecycle(clock.now_ms()),
        database=database,
        system=system,
        chat=chat,
        notifications=NOTIFICATIONS,
        friends=friends,
        capes=CapeWorkshop(database),
        streaks=streaks,
        parties=parties,
        memberships=memberships,
        users=users,
        keys=keys,
        authenticator=Authenticator(keys, issuers, users, clock),
        connect=connect,
        server_authenticator=ServerCredentials(keys, connect.credentials, users, clock),
        networks=await open_networks(stack, config, database, clock, keys),
        limits=Limits(enabled=config.rate_limits),
        presence=presence,
        blobs=Blobs(config.data_dir / "blobs"),
        places=await _open_places(stack, config),
        statuses=await _open_statuses(database, config, clock),
        sockets=_sockets(config, clock, rng, presence, users),
        rights=Rights(users),
        reconciler=Reconciler(partial(database.read, running_seconds)),
    )
    return service, issuers


@asynccontextmanager
async def _serving(service: Service, issuers: Issuers) -> AsyncIterator[None]:
    async with trio.open_nursery() as nursery:
        _start(service, issuers, nursery)
        service.lifecycle.serve()
        try:
            yield
        finally:
            service.lifecycle.drain()
            nursery.cancel_scope.cancel()


def _open_keys(data_dir: Path) -> Keys:
    for path in close_to_others(data_dir):
        log.warning(f"{path} could be read by others; it is closed to them now")
    return open_keys(data_dir)


async def _open_users(database: Database, clock: Clock) -> Users:
    users = Users(database, clock, secrets.token_bytes)
    await users.open()
    return users


async def _open_places(stack: AsyncExitStack, config: Config) -> Places:
    places = Places(config.geoip_db, config.data_dir)
    stack.callback(places.close)
    await places.refresh(trio.to_thread.run_sync)
    return places


async def _open_statuses(database: Database, config: Config, clock: Clock) -> Statuses:
    statuses = Statuses(config.freshness_seconds * 1000)
    await statuses.open(database, clock.now_ms())
    return statuses


async def _open_database(stack: AsyncExitStack, config: Config) -> Database:
    await _hold(stack, config.data_dir)
    dsn = config.database_url
    if dsn is None:
        dsn = await stack.enter_async_context(embedded_postgres(config.data_dir, pg_bin=config.pg_bin))
    database = await stack.enter_async_context(open_database(dsn, timeout_seconds=config.request_seconds))
    await database.read(check_server)
    for name in await migrate(database):
        log.info("migrated", migration=name)
    return database


async def _open_friends(
    database: Database, presence: Presence, users: Users, clock: Clock
) -> tuple[Memberships, FriendsLive]:
    """Who is in which party, and how users appear to each other, as rows say."""
    memberships, visibilities = Memberships(await database.read(stored_memberships)), Visibilities()
    visibilities.fill(await database.read(veiled))
    for blocker_id, target_id in await database.read(parted):
        visibilities.part(blocker_id, target_id, parted=True)
    circles = Circles(database, presence.is_looking)
    friends = FriendsLive(
        presence, users, visibilities, clock.now_ms, party_of=memberships.of, circles=circles
    )
    return memberships, friends


def _party_kinds(
    presence: Presence, friends: FriendsLive, memberships: Memberships, clock: Clock
) -> PartyKinds:
    rendered = Rendered(friends.appearance, friends.hidden_among, presence.changes)
    return party_kinds(presence.is_online, rendered, clock.now_ms, memberships)


async def _open_system(
    stack: AsyncExitStack,
    config: Config,
    database: Database,
    clock: Clock,
    *,
    kinds: Sequence[Kind[Any, Any]],
    rng: Random,
) -> System:
    node = await trio.to_thread.run_sync(node_name, config.data_dir)
    placement = await stack.enter_async_context(open_local_placement(database, node=node))
    return await stack.enter_async_context(
        open_system(
            database,
            clock,
            kinds=kinds,
            placement=placement,
            rng=rng,
            ask_seconds=config.request_seconds,
        )
    )


async def _hold(stack: AsyncExitStack, data_dir: Path) -> None:
    give_up_at = trio.current_time() + HOLD_SECONDS
    while True:
        try:
            stack.enter_context(hold_data_dir(data_dir))
        except ClusterInUse:
            if trio.current_time() >= give_up_at:
                raise
            await trio.sleep(HOLD_POLL_SECONDS)
        else:
            return


def _sockets(config: Config, clock: Clock, rng: Random, presence: Presence, users: Users) -> Sockets:
    def opened(socket: LiveSocket) -> None:
        if socket.issued_at_s is not None and socket.issued_at_s < users.not_before_s(socket.user_id or ""):
            socket.close(CloseCode.UNAUTHENTICATED, "UNAUTHENTICATED")  # revoked while it was opened
        if socket.user_id is not None and is_uuid(socket.user_id):  # a game server's is none
            presence.opened(socket.user_id)

    def closed(socket: LiveSocket) -> None:
        if socket.user_id is not None and is_uuid(socket.user_id):
            presence.closed(socket.user_id)

    cap = MAX_PER_USER if config.rate_limits else None
    return Sockets(clock, rng, max_per_user=cap, opened=opened, closed=closed)


def _start(service: Service, issuers: Issuers, nursery: trio.Nursery) -> None:
    """Everything that runs beside requests."""
    work: list[Job | Standing] = [Standing("keys of issuers", issuers.keep_fresh)]
    for domain in service.domains:
        domain.gauges(service)
        work += domain.follow(service)
        work += domain.jobs(service)
    for one in work:
        if isinstance(one, Standing):
            nursery.start_soon(keep_standing, one, service.housekeeping, name=one.name)
    jobs = tuple(one for one in work if isinstance(one, Job))
    nursery.start_soon(keep_house, jobs, service.housekeeping)
