"""A small service whose one route reads its body piece by piece, for tests of what uploads do to a server."""

import hashlib
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import trio

from actors.errors import Invalid
from actors.field_errors import FieldError
from routes.edge.body_pieces import BodyPieces
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.mounts import Mount, RouteTable
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.dispatch import Edge
from routes.edge.principal import PUBLIC
from routes.edge.server.quart_app import EdgeApp
from tests.edge.parts import Parts
from tests.edge.sample import Thing

if TYPE_CHECKING:
    from routes.service import Service

MAX_BYTES = 8 * 1024 * 1024


class Uploads:
    """What became of the uploads of one test.

    Attributes:
        begun: handlers that were called.
        ended: what each handler's reading ended with, `complete` or the name of an exception.
        sizes: of each piece.
        reads: set for the handlers that are to read on.
        first: set once a piece was read.
    """

    def __init__(self) -> None:
        self.begun = 0
        self.ended: list[str] = []
        self.sizes: list[int] = []
        self.reads = trio.Event()
        self.reads.set()
        self.first = trio.Event()
        self.done = trio.Event()


class UploadParts(Parts):
    """The parts of a service, and what became of its uploads."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.uploads = Uploads()


@endpoint("PUT", "/v1/pieces/{how}", needs=PUBLIC, refusals=(Invalid,), max_bytes=lambda _: MAX_BYTES)
async def put_pieces(call: Call, how: str, body: BodyPieces) -> Thing:
    """Takes bytes."""
    uploads = cast("UploadParts", call.service).uploads
    uploads.begun += 1
    digest = hashlib.sha256()
    try:
        async for piece in body:
            uploads.sizes.append(len(piece))
            uploads.first.set()
            digest.update(piece)
            await uploads.reads.wait()
            if how == "refused":
                raise Invalid(FieldError("/content", "MISMATCH", "these are not the bytes"))
            if how == "enough":
                break
    except BaseException as error:
        uploads.ended.append(type(error).__name__)
        raise
    else:
        uploads.ended.append("complete")
    finally:
        uploads.done.set()
    return Thing(digest.hexdigest()[:20], body.arrived_bytes)


@endpoint("GET", "/alive", needs=PUBLIC)
async def alive(call: Call) -> Thing:
    """Is there."""
    return Thing("alive")


TABLE = RouteTable.of([Mount("uploads", (sys.modules[__name__],))])


def application(parts: UploadParts) -> EdgeApp:
    """The application, to be started by the server that serves it."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Edge]:
        yield Edge(cast("Service", parts), TABLE)

    return EdgeApp(TABLE, opened)
