"""Writes the DNS records of networks at their providers (service-api §4, DNS automation).

Tasks are rows, inserted in the transaction of the change that needs them. They are carried out at once after the
request, and by a job until they succeed, so that a provider that is unavailable does not fail a request.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import structlog
import trio
from msgspec.structs import replace

from actors.kernel.clock import Clock
from actors.networks.units_removal import LeftRecords
from persistence.connection import Connection
from persistence.errors import PersistenceError
from persistence.networks import dns, networks
from persistence.networks.dns import Claim, DueNetwork
from persistence.networks.rows import DnsRow, DnsTask
from routes.networks.cloudflare import Cloudflare, CloudflareFault, TokenStatus
from routes.networks.provider_tokens import ProviderTokens
from routes.networks.resolver import Resolver
from routes.pruning import EachOf

if TYPE_CHECKING:
    from persistence.bridge.database import Database

log = structlog.get_logger()

INLINE_SECONDS = 3.0
"""How long a request waits for its records; the job does the rest."""

BATCH_TASKS = 50
BATCH_NETWORKS = 20
"""Most tasks of one network, and most networks, in one run of the job."""

CLAIM_MS = 150_000
"""How long a network's records are one node's to write. A node that ends in the midst of it leaves them to the others
after that; one that goes on takes them anew for each batch."""

BATCH_SECONDS = 15.0
"""How long a batch goes on beginning tasks. One that was begun may last as long as 21 requests and its lookups, so that
a batch is over well before its claim."""

RELEASE_SECONDS = 2.0
"""Longest wait of a cancelled batch for the release of its claim."""

MAX_ADDRESSES = 20
"""Most A records of one name."""

FIRST_RETRY_MS = 60_000
LAST_RETRY_MS = 3_600_000
MAX_ATTEMPTS = 20
"""About half a day of attempts; then the task is dropped, until a change needs the record again."""


@dataclass(slots=True)
class _Batch:
    """What has become of the tasks of a claim.

    Args:
        begun: those for which the provider was asked.
        done: those that are over: carried out, or given up.
        later: those that are tried again.
        status: what the answers say of the provider's token; None if they say nothing.
    """

    begun: list[DnsTask] = field(default_factory=list)
    done: list[DnsTask] = field(default_factory=list)
    later: list[DnsTask] = field(default_factory=list)
    status: TokenStatus | None = None

    def put_off(self, tasks: Sequence[DnsTask], now_ms: int) -> None:
        for task in tasks:
            is_last = task.attempts + 1 >= MAX_ATTEMPTS
            (self.done if is_last else self.later).append(_put_off(task, now_ms))


class Automation:
    """Carries out the DNS tasks of networks.

    Args:
        database: the database, which has the tasks.
        clock: tells which tasks are due.
        cloudflare: the provider's API.
        resolver: finds the addresses of gateways.
        tokens: opens the providers' tokens.
    """

    def __init__(
        self,
        database: "Database",
        clock: Clock,
        cloudflare: Cloudflare,
        resolver: Resolver,
        tokens: ProviderTokens,
    ) -> None:
        self._database = database
        self._clock = clock
        self._cloudflare = cloudflare
        self._resolver = resolver
        self._tokens = tokens
        self._due = EachOf(
            self._page,
            lambda due: self.push(due.network_id),
            doing="writing DNS records of a network",
            about=lambda due: due.network_id,
        )

    async def push_soon(self, network_id: str) -> None:
        """Carry out a network's due tasks for at most `INLINE_SECONDS`; the job does what is left.

        Raises:
            DatabaseUnavailable: the tasks cannot be read or updated.
        """
        with trio.move_on_after(INLINE_SECONDS):
            await self.push(network_id)

    async def remove_last(self, left: Sequence[LeftRecords]) -> None:
        """Remove what networks leave at their providers when they go, and the providers' tokens with them, for at most
        `INLINE_SECONDS`; records that a provider does not let go within these stay there. Reads and writes no rows.

        Args:
            left: the records, by network.
        """
        with trio.move_on_after(INLINE_SECONDS):
            for one in left:
                await self._remove(one.provider, one.tasks)

    async def _remove(self, row: DnsRow, tasks: Sequence[DnsTask]) -> None:
        token = self._tokens.open(row)
        for task in tasks:
            try:
                await self._write(row, token, task)
            except CloudflareFault as fault:
                _log_fault("a DNS record of a network that goes stays", row, task, fault)
                if fault.status is not None:  # the token or provider fails, so the other tasks would fail too
                    return

    async def tick(self) -> bool:
        """Carry out due tasks of up to `BATCH_NETWORKS` networks; returns False if more may be due. What fails for one
        network holds up no other.

        Raises:
            DatabaseUnavailable: the tasks cannot be read or updated.
        """
        return not await self._due.take(BATCH_NETWORKS)

    async def _page(self, after: DueNetwork | None, limit: int) -> list[DueNetwork]:
        return await self._database.read(dns.due_networks, after, self._clock.now_ms(), limit)

    async def push(self, network_id: str) -> None:
        """Carry out a network's due tasks; if this or another node is doing that, it goes on until none is due any
        more, and this returns at once. Written at once, an older record could come after the removal of its name.

        Cancellation leaves tasks due: those that were carried out already are repeated, which is harmless.

        Raises:
            DatabaseUnavailable: the tasks cannot be read or updated.
        """
        while (claim := await self._claim(network_id)) is not None:
            try:
                await self._work_off(claim)
            except BaseException:
                await self._release(network_id, claim.until_ms)
                raise

    async def _claim(self, network_id: str) -> Claim | None:
        if not await self._database.read(dns.due_tasks, network_id, self._clock.now_ms(), 1):
            return None  # nearly always, and without a lock
        now_ms = self._clock.now_ms()
        until_ms = now_ms + CLAIM_MS
        try:
            return await self._database.transact(
                partial(dns.claim, now_ms=now_ms, until_ms=until_ms), network_id, BATCH_TASKS
            )
        except BaseException:
            await self._release(network_id, until_ms)  # it may have been committed
            raise

    async def _release(self, network_id: str, until_ms: int) -> None:
        """Leave the network's records to others, also under cancellation; if that fails, they wait for the claim's
        end."""
        with trio.move_on_after(RELEASE_SECONDS, shield=True):
            try:
                await self._database.transact(dns.release, network_id, until_ms)
            except PersistenceError as failure:
                log.warning("DNS records of a network are held up", reason=type(failure).__name__)

    async def _work_off(self, claim: Claim) -> None:
        now_ms = self._clock.now_ms()
        batch = await self._carry_out(claim, now_ms)
        network_has_gone = await self._database.transact(_finish, claim, batch, now_ms)
        if network_has_gone:  # and whoever removed it may have looked at the provider before these were there
            left = [replace(task, content=None) for task in batch.begun if task.content]
            await self._remove(claim.provider, left)

    async def _carry_out(self, claim: Claim, now_ms: int) -> _Batch:
        row, tasks, batch = claim.provider, claim.tasks, _Batch()
        ends_at = trio.current_time() + BATCH_SECONDS
        token = self._tokens.open(row)
        for at, task in enumerate(tasks):
            if trio.current_time() >= ends_at:
                break
            batch.begun.append(task)
            try:
                await self._write(row, token, task)
            except CloudflareFault as fault:
                _log_fault("a DNS record cannot be written", row, task, fault)
                if fault.status is not None:  # the token or provider fails, so the other tasks would fail too
                    batch.status = fault.status
                    batch.put_off(tasks[at:], now_ms)
                    break
                batch.put_off([task], now_ms)
            else:
                batch.status = "active"
                batch.done.append(task)
        return batch

    async def _write(self, row: DnsRow, token: bytes | None, task: DnsTask) -> None:
        if token is None:  # sealed with another key, for example before a restore
            raise CloudflareFault("invalid")
        contents, are_all = await self._contents(task)
        mark = f"partyline {row.network_id}"
        await self._cloudflare.keep(
            token.decode("ascii"), row.zone_id, task.type, task.name, contents, mark=mark
        )
        if not are_all:  # those of the others are written; it is asked again
            raise CloudflareFault(None)

    async def _contents(self, task: DnsTask) -> tuple[list[str], bool]:
        """The contents that a record is to have, and whether the addresses of all its hosts were found.

        Raises:
            CloudflareFault: no host has an address.
        """
        if task.content is None:
            return [], True
        if task.type != "A":
            return [task.content], True
        found = [await self._resolver.addresses(host) for host in task.content.split(",")]
        contents = sorted({address for addresses in found for address in addresses or ()})[:MAX_ADDRESSES]
        if not contents:
            raise CloudflareFault(None)
        return contents, None not in found


def _log_fault(text: str, row: DnsRow, task: DnsTask, fault: CloudflareFault) -> None:
    log.info(text, network_id=row.network_id, name=task.name, why=str(fault))


def _put_off(task: DnsTask, now_ms: int) -> DnsTask:
    pause_ms = min(LAST_RETRY_MS, FIRST_RETRY_MS << min(task.attempts, 16))
    return replace(task, attempts=task.attempts + 1, due_at_ms=now_ms + pause_ms)


async def _finish(conn: Connection, claim: Claim, batch: _Batch, now_ms: int) -> bool:
    """Store the outcome of tasks, unless the network has another provider now: its tasks may be for the same records,
    but nothing is known of them, nor of its token. The claim ends in either case. Returns whether the network is gone.
    """
    row = claim.provider
    sealed_token = await dns.lock_token(conn, row.network_id)
    await dns.release(conn, row.network_id, claim.until_ms)
    if sealed_token == row.sealed_token:
        await dns.finish_tasks(conn, batch.done, batch.later)
        if batch.status is not None:
            await dns.set_status(conn, row.network_id, batch.status, now_ms)
    return sealed_token is None and await networks.read(conn, row.network_id) is None
