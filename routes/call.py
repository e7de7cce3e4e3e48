"""The type `Call` of our handlers: the edge's generic `Call`, bound to our `Service`."""

from typing import TYPE_CHECKING, TypeAlias

from routes.edge.pipeline import call

if TYPE_CHECKING:
    from routes.service import Service

    Call: TypeAlias = call.Call[Service]
else:
    Call = call.Call
