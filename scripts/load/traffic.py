"""What a worker drives: messages (`chat.py`), requests (`rest.py`), open sockets alone (`idle.py`), friends who come
and go (`friends.py`), parties (`parties.py`), or game servers, with commands (`commands.py`) or statuses (`agents.py`).
"""

from typing import Protocol

from scripts.load.clients.exchange import Stopped, Tally, Verdict
from scripts.load.reopening import Reopening


class Traffic(Protocol):
    """One kind of load, as the worker's command loop uses it."""

    @property
    def reopening(self) -> Reopening | None:
        """Opens lost sockets again; None where lost sockets stay lost."""
        ...

    async def open(self) -> int:
        """Open the connections; returns how many."""
        ...

    async def drive(self) -> None:
        """Send until stopped; cancelled when the worker ends."""
        ...

    def mark(self) -> Tally:
        """The counts since the last mark."""
        ...

    async def stop(self) -> Stopped:
        """Send no more and wait for the answers."""
        ...

    async def settle(self, least: list[int], most: list[int]) -> Verdict:
        """Wait for the deliveries and judge them; `least` and `most` are as in `Settle`."""
        ...
