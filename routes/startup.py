"""The order in which the service is opened, and everything that runs beside requests.

`open_service` opens configuration → database → keys → placement → the parts of all domains → actor system →
everything that ticks, and closes in reverse. Placement comes before the parts, so that no turn of a former process can
be committed after the parts have read their rows. A node among others joins them before the parts, too, so that it
hears of every event that comes after what the parts have read.
"""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from random import Random
from typing import TypeAlias

import structlog
import trio

from actors.ids import ObjectIds
from actors.kernel.clock import Clock, SystemClock
from actors.kernel.nodes.parting import part_with
from actors.kernel.opening import open_system
from actors.kernel.placement import Placement, open_local_placement
from persistence.bridge.database import Database, open_database
from persistence.embedded.data_dir import holding, node_name
from persistence.embedded.postgres import embedded_postgres
from persistence.schema.checks import check_server, running_seconds
from persistence.schema.migrate import migrate
from routes.changes import follow_others, reactions_of, reconciliations_of
from routes.config.config import Config
from routes.domain import Domains, channels_of, only
from routes.edge.identity.keys import Keys
from routes.edge.limits import Limits
from routes.edge.lookups import Lookups
from routes.edge.websocket.registry import MAX_PER_USER, Sockets
from routes.jobs import BackgroundTask, Job, keep_house, keep_running
from routes.joining import Node, joined_node
from routes.lifecycle import Lifecycle
from routes.logs import name_lines
from routes.matching import keys_of
from routes.part import Opening
from routes.reconciler import Reconciler
from routes.service import Service
from routes.spending import SharedRates
from routes.telemetry.seams import PLAIN, Seams, TelemetryMissing

log = structlog.get_logger()

OpenDatabase: TypeAlias = Callable[..., AbstractAsyncContextManager[Database]]

NOTICED_SECONDS = 3.0
"""After this time a keeper or load balancer sends no more connections to a drained node: a keeper has asked `/ready`
twice by then. Clients that were told earlier would come back to the same node, and are not told again."""


@asynccontextmanager
async def open_service(
    config: Config,
    domains: Domains,
    clock: Clock | None = None,
    opened: OpenDatabase = open_database,
) -> AsyncIterator[Service]:
    """Open everything, in order, and close it in reverse. Must run in the main thread (see `embedded_postgres`).

    Cancellation closes what is open; what was acknowledged is in the database already.

    Args:
        config: the configuration, as read from the environment.
        domains: the domains to serve.
        clock: the time that the rules go by; None takes the system's clock.
        opened: opens the database, as `open_database` does.

    Raises:
        ClusterInUse, ClusterFaulty, NoPostgres, DatabaseUnfit, MigrationChanged, KeyFault: the service cannot start;
            the message says why in one line.
        DatabaseUnavailable: the database does not answer, or another node holds it.
        TelemetryMissing: traces are configured, and the packages that send them are not installed.
    """
    Lookups().use()
    async with AsyncExitStack() as stack:
        service = await _open(stack, config, domains, clock or SystemClock(), opened)
        async with _serving(service, domains):
            yield service


async def _open(
    stack: AsyncExitStack, config: Config, domains: Domains, clock: Clock, opened: OpenDatabase
) -> Service:
    seams, name = await _seams(stack, config), await _hold(stack, config)
    database = await _open_database(stack, config, seams, lifecycle := Lifecycle(clock.now_ms()), opened)
    keys = await keys_of(database, config.shared_dir)
    node = await _join(stack, config, database=database, keys=keys, clock=clock, name=name)
    placement = await _place(stack, database, node, name)
    opening = Opening(
        config=config,
        clock=clock,
        random_bytes=secrets.token_bytes,
        database=database,
        keys=keys,
        stack=stack,
        begun_at_ms=clock.now_ms() if node is None else node.begun_at_ms,
        nodes=(lambda: 1) if node is None else node.count,
    )
    for part in (part for domain in domains for part in domain.parts):
        await opening.of(part)
    rng = Random(secrets.randbits(128))
    system = await stack.enter_async_context(
        open_system(
            database,
            clock,
            kinds=(*opening.kinds(), *(kind for domain in domains for kind in domain.kinds)),
            placement=placement,
            rng=rng,
            ask_seconds=config.request_seconds,
            observer=seams.observer,
            far=None if node is None else node.far,
        )
    )
    return Service(
        config=config,
        clock=clock,
        random_bytes=secrets.token_bytes,
        ids=ObjectIds(secrets.token_bytes),
        lifecycle=lifecycle,
        database=database,
        placement=placement,
        node=node,
        system=system,
        keys=keys,
        limits=Limits(enabled=config.rate_limits),
        sockets=Sockets(clock, rng, max_per_user=MAX_PER_USER if config.rate_limits else None),
        channels=channels_of(domains),
        authenticator=await opening.of(only(domain.authenticator for domain in domains)),
        server_authenticator=await opening.of(only(domain.server_authenticator for domain in domains)),
        parts=opening.opened,
        let_go=tuple(one.let_go for one in domains if one.let_go is not None),
        forget_user=tuple(one.forget_user for one in reversed(domains) if one.forget_user is not None),
        reactions=reactions_of(reaction for one in domains for reaction in one.reactions),
        memory_reactions=reactions_of(
            reaction for one in domains for reaction in one.reactions if not reaction.once
        ),
        reconciliations=reconciliations_of(each for one in domains for each in one.reconciliations),
        reconciler=Reconciler(partial(database.read, running_seconds)),
        seams=seams,
    )


async def _hold(stack: AsyncExitStack, config: Config) -> str:
    """Hold the data folder; returns the node's name, which all further log lines carry."""
    await stack.enter_async_context(holding(config.data_dir))
    name = await trio.to_thread.run_sync(node_name, config.data_dir)
    if config.nats_url is not None:
        name_lines(name)
    return name


async def _seams(stack: AsyncExitStack, config: Config) -> Seams:
    """The wrappers that observe requests, turns and units of work: none, unless traces or logs are exported."""
    if config.otel == "off":
        return PLAIN
    try:
        # Imported only if it is configured: the import takes a third of a second, and the packages are an extra.
        from routes.telemetry.opening import open_telemetry  # noqa: PLC0415
    except ImportError as missing:
        raise TelemetryMissing(
            "PARTYLINE_OTEL needs packages that are not installed: pip install 'partyline[otel]'"
        ) from missing
    return await stack.enter_async_context(open_telemetry(config))


async def _join(
    stack: AsyncExitStack, config: Config, *, database: Database, keys: Keys, clock: Clock, name: str
) -> Node | None:
    if config.nats_url is None:
        return None
    return await stack.enter_async_context(joined_node(config, database, keys, clock, name))


async def _place(stack: AsyncExitStack, database: Database, node: Node | None, name: str) -> Placement:
    if node is not None:
        return node.membership.where
    return await stack.enter_async_context(open_local_placement(database, node=name))


@asynccontextmanager
async def _serving(service: Service, domains: Domains) -> AsyncIterator[None]:
    async with trio.open_nursery() as nursery:
        _start(service, domains, nursery)
        if service.node is not None:
            await _rise(service, service.node)
        service.lifecycle.serve()
        try:
            yield
        finally:
            service.lifecycle.drain()
            nursery.cancel_scope.cancel()


async def _rise(service: Service, node: Node) -> None:
    """Take in what the other nodes have told meanwhile, and own a share of the shards from now on."""
    node.membership.sockets = lambda: len(service.sockets)
    node.ownership.drained = lambda: node.nursery.start_soon(_send_away, service)
    node.retelling.follow(service.memory_reactions)
    node.membership.peers.listen()
    await node.ownership.rise(partial(part_with, service.system), node.nursery.start_soon)


async def _send_away(service: Service) -> None:
    """Tell the clients of a drained node to reconnect, unless it was resumed before they would go elsewhere."""
    await trio.sleep(NOTICED_SECONDS)
    if service.leaving:
        await service.sockets.send_away()


def _start(service: Service, domains: Domains, nursery: trio.Nursery) -> None:
    """Start the jobs and background tasks of all domains."""
    work: list[Job | BackgroundTask] = []
    if service.node is not None:
        work.append(BackgroundTask("what other nodes tell", partial(follow_others, service)))
        if service.limits.enabled:
            rates = SharedRates(service.limits, service.node.membership.peers, service.clock)
            work.append(BackgroundTask("rates of all nodes", rates.keep))
    does = service.placement.does
    for domain in domains:
        domain.gauges(service)
        work += domain.follow(service)
        work += domain.jobs(service)
    for one in work:
        if isinstance(one, BackgroundTask):
            nursery.start_soon(keep_running, one, service.housekeeping, does, name=one.name)
    jobs = tuple(one for one in work if isinstance(one, Job))
    nursery.start_soon(keep_house, jobs, service.housekeeping, does)


async def _open_database(
    stack: AsyncExitStack, config: Config, seams: Seams, lifecycle: Lifecycle, opened: OpenDatabase
) -> Database:
    dsn = config.database_url
    if dsn is None:
        dsn = await stack.enter_async_context(
            embedded_postgres(
                config.data_dir,
                pg_bin=config.pg_bin,
                wal_dir=config.wal_dir,
                left_seconds=lifecycle.left_seconds,
            )
        )
    database = await stack.enter_async_context(
        opened(dsn, timeout_seconds=config.request_seconds, made=seams.database)
    )
    await database.read(check_server)
    for name in await migrate(database):
        log.info("migrated", migration=name)
    return database
