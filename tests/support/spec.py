"""Holds responses and frames against the service's own documents: a status or field that they do not tell of fails the
test that met it.
"""

import re
from functools import cache
from typing import Any
from urllib.parse import unquote

import msgspec
from jsonschema_rs import Draft202012Validator, Registry

from routes import TABLE
from routes.edge.docs.asyncapi import asyncapi
from routes.edge.docs.openapi import openapi

_DOCUMENT = "urn:document"


class Spec:
    """OpenAPI and AsyncAPI, with a validator for each schema that was asked for."""

    def __init__(self) -> None:
        self.document, self._answers = _read(openapi(TABLE))
        self.frames, self._sent = _read(asyncapi(TABLE))
        self._paths = [
            (_form(path, operations), operations)
            # What is spelled out comes before what is a parameter, as in the router.
            for path, operations in sorted(self.document["paths"].items(), key=lambda one: one[0].count("{"))
        ]
        self._validators: dict[int, Draft202012Validator] = {}

    def check(self, method: str, path: str, *, status: int, media: str, body: bytes) -> None:
        """Fail when the response is none that the document describes.

        Args:
            method, path: of the request, the path without query.
            media: the response's content type, "" for none.
        """
        operation = self._operation(method, path)
        if operation is None:
            assert status in {404, 405}, f"{method} {path} is not documented, and was answered {status}"
            return
        described = operation["responses"].get(str(status))
        assert described is not None, f"{method} {path}: {status} is not documented"
        content = described.get("content", {})
        kind = media.partition(";")[0]
        if not body:
            return
        ranges = {kind, f"{kind.partition('/')[0]}/*", "*/*", "application/octet-stream"}
        assert not ranges.isdisjoint(content), f"{method} {path} {status}: {kind} is not documented"
        if kind.endswith("json") and kind in content:
            self._validator(content[kind]["schema"], self._answers).validate(msgspec.json.decode(body))

    def check_frame(self, struct: str, frame: object) -> None:
        """Fail when what came over a socket is no such struct of the AsyncAPI document."""
        self._validator(self.frames["components"]["schemas"][struct], self._sent).validate(frame)

    def _operation(self, method: str, path: str) -> dict[str, Any] | None:
        plain = unquote(path)
        for form, operations in self._paths:
            if form.fullmatch(plain) is not None and method.lower() in operations:
                found: dict[str, Any] = operations[method.lower()]
                return found
        return None

    def _validator(self, schema: dict[str, Any], components: Registry) -> Draft202012Validator:
        known = self._validators.get(id(schema))
        if known is None:
            known = self._validators[id(schema)] = Draft202012Validator(schema, registry=components)
        return known


def _form(path: str, operations: dict[str, Any]) -> re.Pattern[str]:
    """What a path looks like when it is asked for; a parameter whose own form has slashes is the rest of it."""
    described = [
        one for operation in operations.values() for one in operation["parameters"] if one["in"] == "path"
    ]
    rest = {one["name"] for one in described if "/" in one["schema"].get("pattern", "").replace("[^/]", "")}
    parts = re.split(r"\{([^/]+?)\}", path)
    form = [
        re.escape(part) if n % 2 == 0 else "[^/](?s:.*)" if part in rest else "[^/]+"
        for n, part in enumerate(parts)
    ]
    return re.compile("".join(form))


def _read(document: bytes) -> tuple[dict[str, Any], Registry]:
    """A document whose references name it, and what they lead to: read once, however many schemas have them."""
    read = msgspec.json.decode(document.replace(b'"#/components', f'"{_DOCUMENT}#/components'.encode()))
    return read, Registry([(_DOCUMENT, {"components": read["components"]})])


@cache
def spec() -> Spec:
    """The one of this process."""
    return Spec()
