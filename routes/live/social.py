"""The session of a socket for everything: its client's commands, one after the other (contract §9)."""

from collections.abc import Awaitable

from actors.users.permissions import capped_to
from routes.edge.errors import RateLimited
from routes.edge.principal import UserPrincipal
from routes.edge.problems import refusal_of
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.socket import LiveSocket
from routes.live.command import Command
from routes.live.commands import BadFrame, Commands, Misread
from routes.live.pace import Pace, Verdict
from routes.live.session import FAILURES, Session
from routes.service import Service
from routes.users.parts import USER_DIRECTORY


class SocialSession(Session):
    """A session that carries out its client's commands one after the other; implements `Listener`.

    A command that needs no rows is carried out within `heard`; one for an actor is posted there, and answered when its
    turn is committed.

    Args:
        service, socket, user: as in `Session`.
        commands: the commands that it understands.
    """

    __slots__ = ("_commands", "_pace")

    def __init__(self, service: Service, socket: LiveSocket, user: UserPrincipal, commands: Commands) -> None:
        super().__init__(service, socket, user)
        self._commands = commands
        self._pace = Pace(service.limits, socket.user_id or socket.session_id)

    def heard(self, message: bytes) -> Awaitable[None] | None:
        """Carry a message's command out; returns what must be awaited before the next message, or None.

        The socket is closed after the token has expired, at a flood, and on a message that is not of this protocol.
        """
        socket = self.socket
        now_ms = self.service.clock.now_ms()
        if socket.expires_at_ms is not None and socket.expires_at_ms <= now_ms:
            # The periodic sweep would close it within a second; until then no command of this token may run.
            socket.close(CloseCode.UNAUTHENTICATED, "TOKEN_EXPIRED")
            return None
        verdict = self._pace.take(now_ms)
        if verdict is Verdict.CLOSE:
            socket.close(CloseCode.FLOOD, "RATE_LIMITED")
            return None
        try:
            command = self._commands.read(message)
        except BadFrame as bad:
            socket.close(CloseCode.BAD_FRAME, bad.reason)
            return None
        except Misread as misread:
            self.refuse(misread.id, misread.refused)
            return None
        if verdict is Verdict.REFUSE:
            self.refuse(command.id, RateLimited(self._pace.retry_after_ms))
            return None
        return self._do(command)

    def _do(self, command: Command) -> Awaitable[None] | None:
        access = self.service.of(USER_DIRECTORY).peek_access(self.user_id)
        if access is None:
            return self._do_slowly(command)
        self.access = capped_to(access, capped=self.capped)
        try:
            waiting = self._commands.run(self, command)
        except FAILURES as error:
            self.refuse(command.id, refusal_of(error))
            return None
        if waiting is not None:
            return self._finish(command, waiting)
        return self.wait_room() if self.crowded else None

    async def _do_slowly(self, command: Command) -> None:
        """Read the user's rights, which have just changed and are not in memory, then carry the command out."""
        try:
            access = await self.service.of(USER_DIRECTORY).access_of(self.user_id)
            self.access = capped_to(access, capped=self.capped)
            waiting = self._commands.run(self, command)
            if waiting is not None:
                await waiting
        except FAILURES as error:
            self.refuse(command.id, refusal_of(error))
        await self.wait_room()

    async def _finish(self, command: Command, waiting: Awaitable[None]) -> None:
        try:
            await waiting
        except FAILURES as error:
            self.refuse(command.id, refusal_of(error))
