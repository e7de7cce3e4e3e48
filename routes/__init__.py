"""The outermost layer: the only one that knows HTTP, WebSocket, JSON and status codes.

Importing the package is cheap: names that need every domain are imported on first access, so that a command that does
not serve starts at once.
"""

from typing import TYPE_CHECKING

from compiled.finding import use

if TYPE_CHECKING:
    from routes.application import create_app
    from routes.domains import DOMAINS, TABLE

use()

__all__ = ["DOMAINS", "TABLE", "create_app"]


def __getattr__(name: str) -> object:
    # ruff: noqa: PLC0415 — imported on first access, for a fast start
    if name == "create_app":
        from routes.application import create_app

        return create_app
    if name in __all__:
        from routes import domains

        return getattr(domains, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
