"""One thing that somebody does: one request, or a few that belong together."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from scripts.soaking.asking import Asker
from scripts.soaking.scene import Scene, User

Do = Callable[[Scene, Asker], Awaitable[None]]
"""Does it, by whom the scene's luck chooses; raises `NotDone` where a request of it was refused."""


class Deed(NamedTuple):
    """A thing to do.

    Args:
        share: how often it is done beside the others.
        do: does it.
    """

    share: int
    do: Do


def reading(kind: str, path: str, *, by_root: bool = False) -> Do:
    """A deed that reads one address.

    Args:
        kind: under which it is counted.
        path: address and query.
        by_root: the super-admin reads, instead of anybody.
    """

    async def do(scene: Scene, asker: Asker) -> None:
        user: User = scene.root if by_root else scene.someone()
        await asker.ask(kind, "GET", path, user.token)

    return do
