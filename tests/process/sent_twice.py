"""A hook of schemathesis: every request is sent a second time, to addresses with ids of what exists.

With ids that were made up nearly every request ends at a guard, and making a request costs ten times what sending it
does. What has no such id in its address is sent again as it was, as clients do that have missed an answer.
"""

import json
import os
from threading import local
from urllib.parse import quote, urlsplit, urlunsplit

import requests
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

IDS = "SENT_TWICE_IDS"
"""Environment: {name of a path parameter: what exists}, as JSON."""

LOG = "SENT_TWICE_LOG"
"""Environment: the file that gets a byte for each second request."""

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]

_ids: dict[str, str] = json.loads(os.environ[IDS])
_log = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND)
_of_thread = local()


def readdressed(url: str, template: str) -> str:
    """The address with ids of what exists.

    Args:
        url: as it was asked for.
        template: the path of the operation, `/v1/things/{thingId}`.
    """
    parts = urlsplit(url)
    segments, names = parts.path.split("/"), template.split("/")
    if len(segments) != len(names):
        return url
    known = [
        quote(_ids[name.strip("{}")]) if name.strip("{}") in _ids and name[:1] == "{" else segment
        for name, segment in zip(names, segments, strict=True)
    ]
    return urlunsplit(parts._replace(path="/".join(known)))


@schemathesis.hook
def after_call(
    context: schemathesis.HookContext,
    case: schemathesis.Case,
    response: schemathesis.Response,
) -> None:
    """Send the request again and hold its answer against the document; raises what a check raises."""
    session = getattr(_of_thread, "session", None)
    if session is None:
        session = _of_thread.session = requests.Session()
        session.trust_env = False
    request = response.request.copy()
    request.url = readdressed(str(request.url), case.operation.path)
    os.write(_log, b".")
    case.validate_response(session.send(request, allow_redirects=False), checks=CHECKS)
