"""Who is online when: users come and go, and each process has known them since its own start only."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from actors.kernel.clock import Clock
from actors.party import rules_invites, rules_members
from actors.users import presence

GRACE_MS, ABSENCE_MS, INVITE_MS = 60, 500, 700

_HASTE = (
    (presence, "GRACE_MS", GRACE_MS),
    (rules_members, "ABSENCE_MS", ABSENCE_MS),
    (rules_invites, "INVITE_MS", INVITE_MS),
)
"""(module, name, milliseconds): a run has seconds, where the rules count in minutes."""


@contextmanager
def in_haste() -> Iterator[None]:
    """The rules count in milliseconds while the block runs."""
    with ExitStack() as stack:
        for module, name, ms in _HASTE:
            stack.enter_context(patch.object(module, name, ms))
        yield


class Attendance:
    """See the module.

    Args:
        clock: of the run.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._moves: dict[str, list[tuple[int, bool]]] = {}  # {user id: (at_ms, online), in order}
        self._since_ms: dict[int, int] = {}  # {fence: when its process was started}

    def is_online(self, user_id: str) -> bool:
        """Whether the user is connected."""
        return user_id in self._moves and self._moves[user_id][-1][1]

    def moved(self, user_id: str, online: bool) -> None:
        """The user has come or gone."""
        if self.is_online(user_id) != online:
            self._moves.setdefault(user_id, []).append((self._clock.now_ms(), online))

    def began(self, fence: int, since_ms: int) -> None:
        """A process that owns under this fence has been there since this time."""
        self._since_ms[fence] = since_ms

    def overdue(self, user_id: str, at_ms: int, fence: int) -> bool:
        """Whether the user was away for so long at this time that a process under this fence may take them out."""
        gone_ms, online = 0, False
        for moved_ms, here in self._moves.get(user_id, ()):
            if moved_ms <= at_ms:
                gone_ms, online = moved_ms, here
        return not online and at_ms - max(gone_ms, self._since_ms.get(fence, 0)) >= ABSENCE_MS
