"""What was told of while rows were read: it may be newer than what these say.

Memory that is compared with rows goes on being told of changes. A read of all that is known takes long enough that some
change nearly always comes in between, so what was told of is left as it is, rather than everything read again.
"""

from collections.abc import Hashable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Meanwhile(Generic[Key]):
    """Collects, for everybody who is reading rows, the keys that memory is told of meanwhile."""

    def __init__(self) -> None:
        self._readers: list[set[Key]] = []

    def told(self, key: Key) -> None:
        """Note that memory was told of this key."""
        for seen in self._readers:
            seen.add(key)

    @contextmanager
    def reading(self) -> Iterator[AbstractSet[Key]]:
        """Collect the keys that memory is told of within the block; the set grows as they come."""
        seen: set[Key] = set()
        self._readers.append(seen)
        try:
            yield seen
        finally:
            self._readers = [other for other in self._readers if other is not seen]
