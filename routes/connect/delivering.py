"""Has pending commands delivered to the game servers that have a stream open here, wherever they live.

A server is asked for once at a time. A turn that could not be taken (too much waited for the server, the database was
away) is tried again by a job, because the event that asked for it does not come again.
"""

from collections.abc import Callable
from functools import partial

from actors.errors import Overloaded
from actors.kernel.mailbox import Answer
from persistence.errors import PersistenceError

Post = Callable[[str, Callable[[Answer], None]], None]
"""`fn(server id, answered)`: has the pending commands of a server taken; calls `answered` once, with the outcome."""

EVERY_SECONDS = 1.0
"""Time after which a turn that could not be taken is tried again."""


class Deliveries:
    """The turns that take commands for streams.

    Args:
        takes: whether a server, by its id, still has a stream here that takes commands.
    """

    def __init__(self, takes: Callable[[str], bool]) -> None:
        self._post: Post = _nobody
        self._takes = takes
        self._under_way: dict[str, bool] = {}  # {server id: whether it is to be asked for once more}
        self._failed: set[str] = set()

    def begin(self, post: Post) -> None:
        """Use `post` to ask for turns from now on; called once, before there are streams."""
        self._post = post

    def deliver(self, server_id: str) -> None:
        """Have a server's pending commands delivered to its streams, without waiting."""
        if server_id in self._under_way:
            self._under_way[server_id] = True
            return
        self._under_way[server_id] = False
        self._post(server_id, partial(self._answered, server_id))

    def try_again(self) -> None:
        """Ask again for what could not be taken; to be called every `EVERY_SECONDS`."""
        failed, self._failed = self._failed, set()
        for server_id in failed:
            if self._takes(server_id):
                self.deliver(server_id)

    def _answered(self, server_id: str, answer: Answer) -> None:
        """Note a turn that could not be taken. Taken commands arrive as events. A server that is gone has no commands,
        and an actor that failed would only fail again."""
        is_asked_again = self._under_way.pop(server_id)
        if isinstance(answer.error, (Overloaded, PersistenceError)):
            self._failed.add(server_id)
        elif is_asked_again:
            self.deliver(server_id)


def _nobody(_server_id: str, _answered: Callable[[Answer], None]) -> None:
    """Before the system runs, there are no streams."""
