"""The edge: the only place that knows HTTP, WebSocket, JSON and status codes.

Importing it costs nothing: what has to know every route (`MOUNTS`, `create_app`) is in `routes.mounts`, and comes when
it is first asked for, so that a command that serves nobody starts at once.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routes.mounts import MOUNTS, create_app

__all__ = ["MOUNTS", "create_app"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from routes import mounts  # noqa: PLC0415 — see above

    return getattr(mounts, name)
