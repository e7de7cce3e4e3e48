"""Subscribes a new socket of `/v1/social/live` to the channels that its address names, or to the default channels.

A handshake counts as one request, but may name any number of channels, and each name that leads to nothing may cost the
load of an actor. So names beyond what a socket may watch are not looked up, nor names after `MAX_MISSES` refused ones,
nor any once the socket has closed.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from actors.errors import Forbidden, NotFound
from actors.kernel.kind import View
from routes.edge.errors import RateLimited
from routes.edge.problems import refusal_of
from routes.live.channel import LiveChannel
from routes.live.session import FAILURES, MAX_SUBSCRIPTIONS, Session, full

MAX_MISSES = 20
"""Names of one handshake that may lead to nothing that the user may see; an honest client has a few at most. Names
after these are not looked up."""


async def subscribe_all(session: Session, names: Sequence[str]) -> None:
    """Watch channels on connect, in this order, with default parameters; the client is told which ones are refused.

    Views among them are read concurrently, and the frames of channels that need no wait then leave in one send.
    Cancellation leaves the rest unwatched, and so does a socket that closes meanwhile.

    Args:
        session: the new session of an open socket.
        names: the names as the client wrote them, or the default ones. Those after the first 200 are refused with
            QUOTA_EXCEEDED, and those after 20 refused ones with RATE_LIMITED, in both cases without being looked up.
    """
    service, socket = session.service, session.socket
    asked = names[:MAX_SUBSCRIPTIONS]
    channels = _located(session, asked)
    shown = [(channel.shown(service), id) for channel, id in channels]
    views = [(one, id) for one, id in shown if isinstance(one, View)]
    for channel, _ in channels:  # before any view is loaded, which shows what was prepared
        if socket.closed:
            return
        with suppress(*FAILURES):  # told below
            if (preparing := channel.prepare(service, session.user_id)) is not None:
                await preparing
    with service.system.watching.expecting(views) as expected:
        await expected.wait_landed()
        socket.gather()
        try:
            seen = await _subscribe_some(session, asked)
            if socket.closed:
                return
            socket.gather()
            for name in asked[seen:]:
                session.told_off(name, RateLimited(0))
            for name in names[MAX_SUBSCRIPTIONS:]:
                session.told_off(name, full())
        finally:
            socket.release()


def _located(session: Session, names: Iterable[str]) -> list[tuple[LiveChannel, str]]:
    """Those of the named channels that exist and that the user may watch, with the ids of what they show."""
    found: list[tuple[LiveChannel, str]] = []
    for name in names:
        with suppress(NotFound):
            channel, id = session.service.channels.locate(name, session.user_id)
            if channel.open_to(session.access):
                found.append((channel, id))
    return found


async def _subscribe_some(session: Session, names: Sequence[str]) -> int:
    """Watch channels until the socket is closed or too many are refused; returns how many were looked up."""
    missed = 0
    for seen, name in enumerate(names):
        if session.socket.closed or missed >= MAX_MISSES:
            return seen
        if not await _subscribe_or_tell(session, name):
            missed += 1
    return len(names)


async def _subscribe_or_tell(session: Session, name: str) -> bool:
    """Watch a channel, or tell the client why not; False if there is no such channel that the user may see."""
    try:
        waiting = session.subscribe(name)
        if waiting is not None:
            session.socket.release()
            await waiting
    except FAILURES as error:
        session.told_off(name, refusal_of(error))
        return not isinstance(error, (NotFound, Forbidden))
    return True
