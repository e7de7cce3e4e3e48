"""Changes that are announced while rows are being read: they may be newer than what was read.

Memory that is compared with rows goes on hearing of changes. A read of all that is known takes long enough that some
change nearly always comes in between. So what was announced meanwhile is left as it is; not everything is read again.
"""

from collections.abc import Hashable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Meanwhile(Generic[Key]):
    """Collects, for each reader of rows, the keys whose changes are announced during its read."""

    def __init__(self) -> None:
        self._readers: list[set[Key]] = []

    def told(self, key: Key) -> None:
        """Note that a change of this key was announced."""
        for seen in self._readers:
            seen.add(key)

    @contextmanager
    def reading(self) -> Iterator[AbstractSet[Key]]:
        """Collect the keys that are announced within the block; the set grows with each."""
        seen: set[Key] = set()
        self._readers.append(seen)
        try:
            yield seen
        finally:
            self._readers = [other for other in self._readers if other is not seen]
