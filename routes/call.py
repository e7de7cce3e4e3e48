"""The `Call` of our handlers: the edge's, with all that our service has open."""

from typing import TYPE_CHECKING, TypeAlias

from routes.edge.pipeline import call

if TYPE_CHECKING:
    from routes.service import Service

    Call: TypeAlias = call.Call[Service]
else:
    Call = call.Call
