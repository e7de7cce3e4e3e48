"""One thing that somebody does: one request, or a few that belong together."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from scripts.soaking.asking import Asker
from scripts.soaking.scene import Scene, User

Do = Callable[[Scene, Asker], Awaitable[None]]
"""Does a deed, by users of the scene that are drawn at random; raises `NotDone` where one of its requests was
refused."""


class Deed(NamedTuple):
    """A deed, and how often it is done.

    Args:
        share: how often it is done beside the others.
        do: does it.
    """

    share: int
    do: Do


def reading(kind: str, path: str, *, by_root: bool = False) -> Do:
    """A deed that reads one address.

    Args:
        kind: the kind of request under which it is counted.
        path: the path and query.
        by_root: whether the super-admin reads, rather than a random user.
    """

    async def do(scene: Scene, asker: Asker) -> None:
        user: User = scene.root if by_root else scene.someone()
        await asker.ask(kind, "GET", path, user.token)

    return do
