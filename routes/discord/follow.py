"""Queues posts about game servers that went online or offline, and wakes the sender when other posts are queued."""

from actors.connect import events
from actors.connect.events import ServerNews
from actors.discord.posting import tell
from persistence.discord.rows import WatchedRow
from routes.changes import change_by_itself
from routes.connect.parts import GAME_SERVERS
from routes.discord.parts import WEBHOOKS
from routes.jobs import BackgroundTask, Job
from routes.publications.parts import STATUSES
from routes.service import Service

TOLD_AT_ONCE = 500
"""Most servers about which posts are queued in one transaction."""


def follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    """Subscribe to the statuses and members of game servers, and send what is to be posted."""
    here = service.of(WEBHOOKS)

    def heard(_server_id: str, event: ServerNews) -> None:
        if isinstance(event, events.MembersChanged):
            here.sender.wake()

    def reported(server_id: str) -> None:
        if here.uptime.asked:
            look(service, server_id)

    service.of(STATUSES).follow(reported)
    service.of(GAME_SERVERS).news.append(heard)
    for network_id in here.uptime.networks():
        # Gives servers that were online the time to report it again before they count as silent.
        look_at_all(service, network_id, patience_ms=service.config.freshness_seconds * 1000)
    return (BackgroundTask("posts to Discord", here.sender.run, one_node=True),)


def look(service: Service, server_id: str, *, patience_ms: int = 0) -> None:
    """Update whether a server counts as online, from its status.

    Args:
        patience_ms: how much longer a server without any known status may be silent, in milliseconds.
    """
    now_ms = service.clock.now_ms()
    report = service.of(STATUSES).fresh_report(server_id, now_ms)
    uptime = service.of(WEBHOOKS).uptime
    if report is None:
        uptime.missed(server_id, now_ms, patience_ms)
    else:
        uptime.saw(server_id, report.network_id, now_ms, online=report.online)


def look_at_all(service: Service, network_id: str, *, patience_ms: int = 0) -> None:
    """Update which servers of a network count as online, from their statuses.

    Args:
        patience_ms: how much longer servers without any known status may be silent, in milliseconds.
    """
    known = service.of(WEBHOOKS).uptime.servers_in(network_id)
    for server_id in known.union(service.of(STATUSES).servers_in(network_id)):
        look(service, server_id, patience_ms=patience_ms)


async def tell_of_servers(service: Service) -> bool:
    """Queue posts about servers that went online or offline; returns False if more may be due.

    Raises:
        PersistenceError: the database failed; the next call tries the same servers again.
    """
    uptime, clock = service.of(WEBHOOKS).uptime, service.clock
    turned = uptime.take_due(clock.now_ms(), TOLD_AT_ONCE)
    if not turned:
        return True
    told = False
    try:
        await change_by_itself(service, tell, turned, clock.now_ms(), about=None)
        told = True
    finally:
        (uptime.told if told else uptime.untold)(turned, clock.now_ms())
    service.of(WEBHOOKS).sender.wake()
    return len(turned) < TOLD_AT_ONCE


def watch(service: Service, network_id: str, watched: WatchedRow | None) -> None:
    """Begin, change or end following the servers of a network.

    Args:
        watched: the network's row; None ends following it.
    """
    uptime = service.of(WEBHOOKS).uptime
    if watched is None:
        uptime.unwatch(network_id)
    elif not uptime.watches(network_id):
        uptime.watch(watched)
        look_at_all(service, network_id)
