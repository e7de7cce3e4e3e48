"""Tables of lists in pages: what a test walks, by the path of the list."""

from collections.abc import Awaitable, Callable

from tests.service.walked import Walked
from tests.support.world import World

Scene = Callable[[World], Awaitable[Walked]]


class Scenes(dict[str, Scene]):
    """{path: how what is walked there is made}; behind a space or a question mark stands how it is walked."""

    def at(self, path: str) -> Callable[[Scene], Scene]:
        """Lists the decorated function at a path."""

        def listed(made: Scene) -> Scene:
            self[path] = made
            return made

        return listed
