"""A bound on how many are inside at once; the others wait, and are let in in the order in which they came.

As `trio.Semaphore`, but whoever finds room is in at once. A semaphore lets all other tasks run first, which wakes this
one once more, with all the calls that it stands in: of the wake-ups while a socket opens those were a quarter.
"""

import trio


class Room:
    """Use it by `async with`. Cancellation of who waits leaves the room to the others.

    Args:
        size: how many may be in it at once, at least 1.
    """

    __slots__ = ("_left", "_outside")

    def __init__(self, size: int) -> None:
        self._left = size
        self._outside = trio.lowlevel.ParkingLot()

    async def __aenter__(self) -> None:
        if self._left:
            self._left -= 1
        else:
            await self._outside.park()

    async def __aexit__(self, *_: object) -> None:
        if self._outside:
            self._outside.unpark()  # who is woken takes this place
        else:
            self._left += 1
