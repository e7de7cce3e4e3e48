"""Reactions to sessions that have ended: their tokens are refused, and the sockets that were opened with them close.

PostgreSQL announces ends as well, so a change of unknown outcome needs no reconciliation: if the session has ended,
that is announced, and after a broken connection, all that may have been missed is looked up.
"""

from actors.sessions.events import SessionsEnded
from persistence.sessions.sessions import CHANNEL, EndedSession
from routes.changes import Reaction
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.socket import LiveSocket
from routes.jobs import Job
from routes.service import Service
from routes.sessions.parts import SIGNED_IN

CHECK_SECONDS = 1.0
"""How soon sockets are looked at after ends may have been missed; an end must show within 2 s."""


def _ended(service: Service, event: SessionsEnded) -> None:
    service.of(SIGNED_IN).ended(event.ended)


REACTIONS = (Reaction(SessionsEnded, _ended),)


def follow_ends(service: Service) -> tuple[Job, ...]:
    """Close the sockets of sessions that end from now on; returns the job that this needs."""
    signed_in = service.of(SIGNED_IN)

    def close_all(ended: EndedSession) -> None:
        for socket in service.sockets.of_user(ended.user_id):
            if socket.sid == ended.id:
                _close(socket)

    def opened(socket: LiveSocket) -> None:
        if socket.sid is not None and signed_in.has_ended(socket.sid):
            _close(socket)

    signed_in.on_end(close_all)
    service.sockets.follow(opened, lambda _socket: None)
    service.database.listen(CHANNEL, signed_in.heard)
    return (Job("sessions of open sockets", CHECK_SECONDS, _Check(service).run),)


class _Check:
    """Looks up the sessions of all open sockets whenever ends may have been missed."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._checked = 0

    async def run(self) -> None:
        signed_in = self._service.of(SIGNED_IN)
        generation = signed_in.generation
        if generation == self._checked:
            return
        open_ = {one.sid: one.user_id for one in self._service.sockets if one.sid is not None}
        alive = await signed_in.living(open_)
        signed_in.ended(EndedSession(sid, user or "") for sid, user in open_.items() if sid not in alive)
        self._checked = generation


def _close(socket: LiveSocket) -> None:
    socket.close(CloseCode.UNAUTHENTICATED, "UNAUTHENTICATED")
