"""Compares requests, responses and frames with the service's own OpenAPI and AsyncAPI documents: what these do not
describe fails the test.

The documents are taken at their word: a field that a struct does not name is a fault, and so are a header that is not
described, one that is said to be there and is not, a body where none is described, and a body that was accepted though
it is not as described. A World's client and sockets are held to them without being asked (`world.py`).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote

import msgspec
from jsonschema_rs import Draft202012Validator, Registry

from routes import TABLE
from routes.edge.docs.asyncapi import asyncapi
from routes.edge.docs.openapi import openapi

_DOCUMENT = "urn:document"

_PROBLEM = "application/problem+json"

_JSON = "application/json"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A response.

    Args:
        method, path: method and path of the request, without the query.
        status, headers, body: those of the response; the headers' names in lower case.
    """

    method: str
    path: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    def __str__(self) -> str:
        return f"{self.method} {self.path}: {self.status}"

    @property
    def media(self) -> str:
        """The media type of the response, "" for none."""
        return self.headers.get("content-type", "").partition(";")[0]


class Spec:
    """OpenAPI and AsyncAPI, with a validator for each schema that was asked for."""

    def __init__(self) -> None:
        described = msgspec.json.decode(openapi(TABLE))
        self.document, self._answers = _read(_strict(described))
        self.frames, self._sent = _read(_strict(msgspec.json.decode(asyncapi(TABLE))))
        self._requests, self._received = _read(_with_nulls(described))
        # {name in lower case: name as it is spelled} of all headers that are described anywhere
        self._headers = {name.lower(): name for name in self.document["components"]["headers"]}
        self._paths = sorted(self.document["paths"], key=self._rank)
        self._forms: dict[str, re.Pattern[str]] = {}
        self._validators: dict[int, Draft202012Validator] = {}
        self._streams: dict[str, Draft202012Validator] = {}

    def check(self, answer: Answer) -> None:
        """Fail when a response is not one that the document describes."""
        method = {"HEAD": "get"}.get(answer.method, answer.method.lower())
        path = self._path(method, answer.path)
        if path is None:
            assert answer.status in {404, 405, 426} or method == "options", f"{answer}: no such route"
            return
        described = self.document["paths"][path][method]["responses"].get(str(answer.status))
        assert described is not None, f"{answer} is not documented"
        self._check_headers(answer, described["headers"])
        self._check_body(answer, described.get("content", {}))
        if answer.media == _PROBLEM and answer.body:
            _check_problem(answer)

    def check_request(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> None:
        """Fail when a request that was accepted is not as the document wants it.

        Args:
            method, path: method and path of the request, without the query.
            headers: names in lower case.
        """
        described_at = self._path(method.lower(), path)
        if described_at is None:
            return
        operation = self._requests["paths"][described_at][method.lower()]
        named = {one["name"].lower() for one in operation["parameters"] if one["in"] == "header"}
        assert "if-match" in named or "if-match" not in headers, (
            f"{method} {path}: If-Match is not documented"
        )
        described = operation.get("requestBody")
        if described is None:
            return
        assert body or not described["required"], f"{method} {path}: the body may be left out"
        media = headers.get("content-type", "").partition(";")[0]
        if body and media == _JSON and media in described["content"]:
            schema = described["content"][media]["schema"]
            self._validator(schema, self._received).validate(msgspec.json.decode(body))

    def check_frame(self, struct: str, frame: object) -> None:
        """Fail when what came over a socket is no such struct of the AsyncAPI document."""
        self._validator(self.frames["components"]["schemas"][struct], self._sent).validate(frame)

    def frames_of(self, path: str) -> Callable[[str | bytes], None]:
        """A function that takes a message of the service, and fails when the document does not describe it for a
        stream.

        Args:
            path: of the stream, without query.
        """
        name = self._stream(path)
        channels = self.frames["channels"][name].get("x-channels", {})
        if name not in self._streams:
            self._streams[name] = self._any_of(self.frames["operations"][f"{name}.send"]["messages"])

        def check(message: str | bytes) -> None:
            frame = msgspec.json.decode(message)
            self._streams[name].validate(frame)
            if channels and frame["type"] in {"snapshot", "event"}:
                head, colon, _ = frame["channel"].partition(":")
                self._check_shown(frame, channels[f"{head}:<id>" if colon else head])

        return check

    def check_handshake(self, path: str, status: int, body: bytes) -> None:
        """Fail when the answer in place of an upgrade is not one that the document describes for a stream.

        Args:
            path: of the stream, without query.
        """
        described = self.frames["channels"][self._stream(path)]["x-refusals"].get(str(status))
        assert described is not None, f"{path}: {status} is not documented"
        schema = described["content"][_PROBLEM]["schema"]
        self._validator(schema, self._sent).validate(msgspec.json.decode(body))

    def _stream(self, path: str) -> str:
        """The name of the stream that has a path."""
        known: dict[str, str] = {one["address"]: name for name, one in self.frames["channels"].items()}
        return next(known[one] for one in known if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", one), path))

    def _any_of(self, messages: list[dict[str, str]]) -> Draft202012Validator:
        structs = [message["$ref"].rpartition("/")[2] for message in messages]
        schema = {"anyOf": [{"$ref": f"{_DOCUMENT}#/components/schemas/{struct}"} for struct in structs]}
        return Draft202012Validator(schema, registry=self._sent, validate_formats=True)

    def _check_shown(self, frame: dict[str, Any], shown: dict[str, Any]) -> None:
        """Fail when a frame of a channel has other data than the channel is said to show."""
        kind = shown["snapshot"] if frame["type"] == "snapshot" else shown["events"][frame["event"]]
        self._validator(kind, self._sent).validate(frame["data"])
        if "self" in frame:
            self._validator(shown["self"], self._sent).validate(frame["self"])

    def _check_headers(self, answer: Answer, described: dict[str, Any]) -> None:
        sent = {self._headers[name] for name in answer.headers if name in self._headers}
        assert sent <= described.keys(), f"{answer}: {sent - described.keys()} is not documented"
        known = self.document["components"]["headers"]
        wanted = {name for name in described if known[name].get("required")}
        assert wanted <= sent, f"{answer}: {wanted - sent} is not sent"

    def _check_body(self, answer: Answer, content: dict[str, Any]) -> None:
        if answer.method == "HEAD":
            return
        if not content:
            assert not answer.body, f"{answer}: a body is not documented"
            return
        ranges = (answer.media, f"{answer.media.partition('/')[0]}/*", "*/*")
        described = next((content[one] for one in ranges if one in content), None)
        assert described is not None, f"{answer}: {answer.media!r} is not documented"
        if answer.media in content and answer.media in {_JSON, _PROBLEM}:
            assert answer.body, f"{answer}: there is no body"
            self._validator(described["schema"], self._answers).validate(msgspec.json.decode(answer.body))

    def _path(self, method: str, path: str) -> str | None:
        found = self._form(method).fullmatch(unquote(path))
        return None if found is None or found.lastindex is None else self._paths[found.lastindex - 1]

    def _form(self, method: str) -> re.Pattern[str]:
        """A pattern of all paths that have a method: a group for each path, in their order."""
        if method not in self._forms:
            paths = self.document["paths"]
            forms = (_form(path, paths[path]) if method in paths[path] else "(?!)" for path in self._paths)
            self._forms[method] = re.compile("|".join(f"({form})" for form in forms))
        return self._forms[method]

    def _rank(self, path: str) -> tuple[int, int]:
        """The rank of a path among those that match, as in the router: text comes before parameters, and the rest of a
        path last, where the longer way to it comes first."""
        if _rests(self.document["paths"][path]):
            return 1, -path.count("/")
        return 0, path.count("{")

    def _validator(self, schema: dict[str, Any], components: Registry) -> Draft202012Validator:
        known = self._validators.get(id(schema))
        if known is None:
            known = Draft202012Validator(schema, registry=components, validate_formats=True)
            self._validators[id(schema)] = known
        return known


def _check_problem(answer: Answer) -> None:
    """Fail when a problem document contradicts itself or its response (contract §1)."""
    problem = msgspec.json.decode(answer.body)
    assert problem["type"] == f"urn:problem:{problem['code'].lower().replace('_', '-')}", problem
    assert problem["status"] == answer.status, problem
    assert problem["detail"] == problem["message"], problem
    assert problem["requestId"] == answer.headers["x-request-id"], problem
    assert ("errors" in problem) == (answer.status == 422), problem


def _rests(operations: dict[str, Any]) -> set[str]:
    """The names of parameters that stand for the rest of a path, and so may have slashes."""
    described = [
        one for operation in operations.values() for one in operation["parameters"] if one["in"] == "path"
    ]
    return {one["name"] for one in described if "/" in one["schema"].get("pattern", "").replace("[^/]", "")}


def _form(path: str, operations: dict[str, Any]) -> str:
    """The pattern of requested paths that match a path of the document."""
    rest = _rests(operations)
    parts = re.split(r"\{([^/]+?)\}", path)
    form = [
        re.escape(part) if n % 2 == 0 else "[^/](?s:.*)" if part in rest else "[^/]+"
        for n, part in enumerate(parts)
    ]
    return "".join(form)


def _strict(node: Any) -> Any:
    """The document, changed so that objects must not have other properties than those described."""
    if isinstance(node, list):
        return [_strict(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    closed = {"additionalProperties": False} if node.get("type") == "object" and "properties" in node else {}
    return closed | {name: _strict(inner) for name, inner in node.items()}


def _with_nulls(node: Any) -> Any:
    """The document, changed so that null may stand for a default, as it says of what is sent."""
    if isinstance(node, list):
        return [_with_nulls(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    changed = {
        # Names of fields, one of which may be "default", and no schema themselves.
        name: {field: _with_nulls(one) for field, one in inner.items()}
        if name == "properties"
        else _with_nulls(inner)
        for name, inner in node.items()
    }
    return {"anyOf": [changed, {"type": "null"}]} if "default" in node else changed


def _read(document: dict[str, Any]) -> tuple[dict[str, Any], Registry]:
    """A document whose references name it, and the registry in which they are found: read once for all schemas."""
    text = msgspec.json.encode(document).replace(b'"#/components', f'"{_DOCUMENT}#/components'.encode())
    read = msgspec.json.decode(text)
    return read, Registry([(_DOCUMENT, {"components": read["components"]})])


@cache
def spec() -> Spec:
    """The documents of the service, read once in a process."""
    return Spec()
