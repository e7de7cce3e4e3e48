"""OpenAPI says which fields of an answer are always there."""

import msgspec

from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.mounts import RouteTable
from routes.edge.docs import openapi
from routes.edge.pipeline.call import Call
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire


class Both(Wire, frozen=True):
    """What is sent and received."""

    note: str = ""


class Sparse(Wire, frozen=True, omit_defaults=True):
    """What is sent without its defaults."""

    id: str
    note: str | None = None


class Sent(Wire, frozen=True):
    """What is only sent."""

    id: str
    both: Both
    sparse: Sparse
    note: str | None = None
    items: list[str] = msgspec.field(default_factory=list)
    extra: str | msgspec.UnsetType = msgspec.UNSET


@endpoint("PUT", "/v1/plain", needs=AUTHENTICATED)
async def put_plain(call: Call, body: Both) -> Sent:
    """Replaces it."""
    raise NotImplementedError


def test_a_default_is_left_out_of_what_comes_not_of_what_is_sent() -> None:
    schemas = openapi.document(RouteTable((put_plain,)))["components"]["schemas"]
    assert schemas["Sent"]["required"] == ["id", "both", "sparse", "note", "items"]
    assert schemas["Sparse"]["required"] == ["id"]
    assert schemas["Both"]["required"] == []
