"""OpenAPI says which headers an answer has, and which a request may have."""

from typing import Any

from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.mounts import RouteTable
from routes.edge.docs import openapi
from routes.edge.documents import Document
from routes.edge.pipeline.call import Call
from routes.edge.principal import AUTHENTICATED, PUBLIC
from routes.edge.reply import Blob, Page, Redirect, Tagged
from routes.edge.stored import Stored
from routes.edge.wire import Wire


class Thing(Wire, frozen=True):
    """What is sent and received."""

    note: str = ""


@endpoint("GET", "/v1/tagged", needs=AUTHENTICATED)
async def read_tagged(call: Call) -> Tagged[Thing]:
    """Reads it."""
    raise NotImplementedError


@endpoint("PUT", "/v1/tagged", needs=AUTHENTICATED)
async def put_tagged(call: Call, body: Thing) -> Tagged[Thing]:
    """Replaces it."""
    raise NotImplementedError


@endpoint("PUT", "/v1/plain", needs=AUTHENTICATED)
async def put_plain(call: Call, body: Thing) -> Thing:
    """Replaces it."""
    raise NotImplementedError


@endpoint("GET", "/v1/stored", needs=PUBLIC)
async def read_stored(call: Call) -> Stored[Thing]:
    """Reads it."""
    raise NotImplementedError


@endpoint("GET", "/v1/page", needs=PUBLIC)
async def read_page(call: Call) -> Document[Page]:
    """Reads it."""
    raise NotImplementedError


@endpoint("GET", "/v1/file", needs=PUBLIC)
async def read_file(call: Call) -> Blob | Redirect:
    """Reads it."""
    raise NotImplementedError


TABLE = RouteTable((read_tagged, put_tagged, put_plain, read_stored, read_page, read_file))
DOCUMENT = openapi.document(TABLE)


def headers(method: str, path: str, status: int) -> set[str]:
    """The headers of a response beside those that all have."""
    described: dict[str, Any] = DOCUMENT["paths"][path][method]["responses"][str(status)]["headers"]
    every = {"X-Request-Id", "RateLimit-Policy", "RateLimit"}
    assert every <= described.keys() <= DOCUMENT["components"]["headers"].keys()
    return set(described) - every


def parameters(method: str, path: str) -> list[str]:
    return [one["name"] for one in DOCUMENT["paths"][path][method]["parameters"] if one["in"] == "header"]


def test_refusals_say_when_to_come_back_and_how_to_sign_in() -> None:
    assert headers("get", "/v1/tagged", 429) == headers("get", "/v1/tagged", 503) == {"Retry-After"}
    assert headers("get", "/v1/tagged", 401) == {"WWW-Authenticate"}
    assert headers("get", "/v1/tagged", 500) == set()


def test_what_has_a_tag_is_changed_under_a_condition() -> None:
    assert headers("get", "/v1/tagged", 200) == {"ETag"}
    assert headers("put", "/v1/tagged", 200) == {"ETag", "Idempotent-Replayed"}
    assert headers("put", "/v1/plain", 200) == {"Idempotent-Replayed"}
    assert parameters("get", "/v1/tagged") == []
    assert parameters("put", "/v1/tagged") == ["Idempotency-Key", "If-Match"]
    assert parameters("put", "/v1/plain") == ["Idempotency-Key"]


def test_what_is_kept_says_how_old_it_is_and_may_be_asked_for_again() -> None:
    kept = {"ETag", "Age", "Cache-Status"}
    assert headers("get", "/v1/stored", 200) == headers("get", "/v1/stored", 304) == kept
    assert headers("get", "/v1/page", 200) == headers("get", "/v1/page", 304) == {"ETag"}


def test_files_say_which_part_of_them_it_is_or_where_they_lie() -> None:
    assert headers("get", "/v1/file", 200) == headers("get", "/v1/file", 304) == {"ETag", "Accept-Ranges"}
    assert headers("get", "/v1/file", 206) == {"ETag", "Accept-Ranges", "Content-Range"}
    assert headers("get", "/v1/file", 416) == {"Content-Range"}
    assert headers("get", "/v1/file", 302) == {"Location"}
    assert "*/*" in DOCUMENT["paths"]["/v1/file"]["get"]["responses"]["200"]["content"]
