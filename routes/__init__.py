"""The edge: the only place that knows HTTP, WebSocket, JSON and status codes.

Importing it costs nothing: what has to know every domain comes when it is first asked for, so that a command that
serves nobody starts at once.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routes.application import create_app
    from routes.domains import DOMAINS, TABLE

__all__ = ["DOMAINS", "TABLE", "create_app"]


def __getattr__(name: str) -> object:
    # ruff: noqa: PLC0415 — see above
    if name == "create_app":
        from routes.application import create_app

        return create_app
    if name in __all__:
        from routes import domains

        return getattr(domains, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
