"""Metrics that belong neither to requests nor to a domain: numbers that parts of the service count anyway."""

import gc
from collections.abc import Callable
from functools import partial
from math import nan
from operator import attrgetter

from actors.kernel.overview import load_of
from persistence.archiving.files import free_bytes as free_of
from persistence.backup.writing import last_backup_seconds
from routes.allocator import free_bytes
from routes.disk import archive_of
from routes.disk import free_bytes as free_on_disks
from routes.operations.memory import resident_bytes
from routes.operations.node_gauges import show_node
from routes.operations.parts import CERTIFICATE, CLOCKS
from routes.service import Service

_DATABASE_GAUGES = (
    ("database_available", "available", "1 while PostgreSQL answers."),
    ("writer_turns_waiting", "turns_waiting", "Turns in front of the writer."),
    ("database_connections", "connections", "Open connections of the pool."),
    ("database_connections_idle", "connections_idle", "Connections of the pool without work."),
)
_DATABASE_COUNTERS = (
    ("writer_transactions", "transactions", "Transactions committed by the writer."),
    ("writer_turns", "turns", "Turns answered in those transactions."),
    ("database_reconnects", "reconnects", "How often the watching connection was made anew."),
    ("database_collisions", "collisions", "Transactions undone and run again, deadlocks above all."),
)


def show_gauges(service: Service) -> None:
    """Register these gauges and counters; their values are read at each scrape."""
    _show_actors(service)
    _show_disks(service)
    _show_jobs(service)
    _show_clocks(service)
    _show_memory(service)
    show_node(service)
    _show_certificate(service)
    _show_database(service)


def _show_actors(service: Service) -> None:
    """Register gauges of the kernel, and all of its counters."""
    metrics, system = service.metrics, service.system
    metrics.gauge("actors", "Live actors and views.", lambda: load_of(system).actors)
    metrics.gauge(
        "replay_bytes", "Events in memory for clients that come back.", lambda: load_of(system).replay_bytes
    )
    for name, _ in system.counters.items():
        says = f"Kernel: {name.replace('_', ' ')}."
        metrics.counter(f"kernel_{name}", says, _number(lambda: system.counters, name))


def _show_disks(service: Service) -> None:
    """Register gauges of what lies on disks, what is left there, and of backups and the archive."""
    metrics, disk, config = service.metrics, service.disk, service.config
    metrics.gauge("journal_bytes", "Events of all actors on disk.", lambda: disk.journal_bytes)
    metrics.gauge("snapshot_bytes", "Snapshots of all actors on disk.", lambda: disk.snapshot_bytes)
    metrics.gauge("receipt_bytes", "Answers kept under Idempotency-Keys.", lambda: disk.receipt_bytes)
    metrics.gauge(
        "disk_free_bytes",
        "Left on the disk of files, or on that of the embedded database if it is less.",
        partial(free_on_disks, config),
    )
    metrics.gauge(
        "last_backup_seconds",
        "When the last backup was complete, epoch seconds; 0 for never.",
        partial(last_backup_seconds, config.shared_dir),
    )
    metrics.gauge(
        "last_base_backup_seconds",
        "When the last base backup of this database was complete, epoch seconds; 0 for never, no number without an "
        "archive.",
        lambda: disk.last_base_seconds,
    )
    metrics.gauge(
        "archiving_failed",
        "1 while PostgreSQL cannot archive its log, and keeps it.",
        lambda: int(disk.is_archiving_failed),
    )
    archive = archive_of(config)
    metrics.gauge(
        "archive_free_bytes",
        "Left on the disk of the archive; no number without an archive.",
        lambda: nan if archive is None else free_of(archive),
    )


def _show_jobs(service: Service) -> None:
    metrics, housekeeping = service.metrics, service.housekeeping
    metrics.counters(
        "job_failures", "Runs of a job of the housekeeping that failed.", "job", lambda: housekeeping.failures
    )
    metrics.gauges(
        "job_behind_seconds",
        "How long ago a job began the run that left nothing due undone: nothing is overdue for longer.",
        "job",
        housekeeping.behind_seconds,
    )


def _show_certificate(service: Service) -> None:
    certificate = service.of(CERTIFICATE)
    if certificate is not None:
        service.metrics.gauge(
            "certificate_expires_seconds",
            "When the certificate in use ends, epoch seconds.",
            lambda: certificate.expires_at_ms / 1000,
        )


def _show_database(service: Service) -> None:
    metrics, database = service.metrics, service.database
    for name, field, says in _DATABASE_GAUGES:
        metrics.gauge(name, says, _number(database.statistics, field))
    for name, field, says in _DATABASE_COUNTERS:
        metrics.counter(name, says, _number(database.statistics, field))


def _show_clocks(service: Service) -> None:
    metrics, clocks = service.metrics, service.of(CLOCKS)
    metrics.gauge(
        "clock_machine_ahead_seconds",
        "How much the machine's clock is ahead of the service's.",
        lambda: clocks.machine_ahead_seconds,
    )
    metrics.gauge(
        "clock_database_ahead_seconds",
        "How much the database's clock is ahead of the service's; no number in the first minute.",
        lambda: clocks.database_ahead_seconds,
    )


def _show_memory(service: Service) -> None:
    """Register gauges of what memory holds for clients, in bytes where the limit is in bytes."""
    metrics, unsent, arriving = service.metrics, service.unsent, service.arriving
    documents, limits, sockets = service.documents, service.limits, service.sockets
    metrics.gauge("sockets", "Open live sockets.", lambda: len(sockets))
    metrics.gauge("rate_buckets", "Kept buckets of the rate limits.", lambda: len(limits))
    metrics.gauge("unsent_bytes", "Bytes that clients have not taken yet.", lambda: unsent.total_bytes)
    metrics.gauge("slow_connections", "Connections for which bytes wait.", lambda: unsent.slow)
    metrics.gauge(
        "reading_late_seconds",
        "How long bytes of clients waited at most in the last 30 seconds until they were read.",
        lambda: service.lateness.seconds,
    )
    metrics.counter("unsent_refused", "Requests refused because too much was unread.", lambda: unsent.refused)
    metrics.counter("unsent_cut", "Connections cut because too much was unread.", lambda: unsent.cut)
    metrics.gauge(
        "arriving_bytes", "Bytes of bodies that arrive, or are worked on.", lambda: arriving.total_bytes
    )
    metrics.counter(
        "arriving_refused", "Requests refused because too much arrived.", lambda: arriving.refused
    )
    metrics.gauge(
        "socket_queue_bytes",
        "Frames that wait in live sockets.",
        lambda: sum(one.queued_bytes for one in sockets),
    )
    metrics.gauge(
        "socket_inbox_bytes",
        "Messages that wait for their listeners.",
        lambda: sum(one.inbox_bytes for one in sockets),
    )
    metrics.gauge("resident_bytes", "Memory of the process.", resident_bytes)
    metrics.gauge("allocator_free_bytes", "Free memory between blocks in use.", free_bytes)
    metrics.counters(
        "collected_objects",
        "Objects that only the collector could free, since they know each other in a circle, by their age.",
        "generation",
        lambda: {str(age): one["collected"] for age, one in enumerate(gc.get_stats())},
    )
    metrics.gauge(
        "collectable_objects",
        "Objects that have come since the collector's last turn, less those that have gone.",
        lambda: gc.get_count()[0],
    )
    metrics.gauge("documents_bytes", "Descriptions and pages kept in memory.", lambda: documents.held_bytes)
    metrics.counter("rate_overflows", "Callers who found no bucket of their own.", lambda: limits.overflows)
    metrics.gauge("reads_shared", "Reads under way that others may share.", lambda: len(service.reads))


def _number(read: Callable[[], object], field: str) -> Callable[[], float]:
    pick = attrgetter(field)
    return lambda: float(pick(read()))
