"""Tells networks of game servers that have come or gone, and wakes the sender when something else is to be posted."""

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
"""How many servers are told of in one transaction."""


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
        # Servers that were online say so again before they count as silent.
        look_at_all(service, network_id, patience_ms=service.config.freshness_seconds * 1000)
    return (BackgroundTask("posts to Discord", here.sender.run, one_node=True),)


def look(service: Service, server_id: str, *, patience_ms: int = 0) -> None:
    """Take in whether a server is online now."""
    now_ms = service.clock.now_ms()
    report = service.of(STATUSES).fresh_report(server_id, now_ms)
    uptime = service.of(WEBHOOKS).uptime
    if report is None:
        uptime.missed(server_id, now_ms, patience_ms)
    else:
        uptime.saw(server_id, report.network_id, now_ms, online=report.online)


def look_at_all(service: Service, network_id: str, *, patience_ms: int = 0) -> None:
    """Take in which servers of a network are online now.

    Args:
        patience_ms: how much longer than others those have to be silent of which nothing is known.
    """
    known = service.of(WEBHOOKS).uptime.servers_in(network_id)
    for server_id in known.union(service.of(STATUSES).servers_in(network_id)):
        look(service, server_id, patience_ms=patience_ms)


async def tell_of_servers(service: Service) -> bool:
    """Have posted which servers have come or gone; returns False if more may be due.

    Raises:
        PersistenceError: the database failed; the same are told of next time.
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
    """Follow the servers of a network from now on, or no more.

    Args:
        watched: what rows say; None for no more.
    """
    uptime = service.of(WEBHOOKS).uptime
    if watched is None:
        uptime.unwatch(network_id)
    elif not uptime.watches(network_id):
        uptime.watch(watched)
        look_at_all(service, network_id)
