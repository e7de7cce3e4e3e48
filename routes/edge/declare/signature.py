"""What a handler's annotations declare about its route: path parameters, query, body and result."""

import inspect
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Union, get_args, get_origin, get_type_hints

from actors.errors import NotFound
from routes.edge.declare.query import ParameterForm, PathParam, QueryPlan
from routes.edge.documents import Document
from routes.edge.reply import Ask, Encoded, Reply, Tagged
from routes.edge.stored import Stored

Handler = Callable[..., object]
"""`fn(call, **path, body=…, query=…) -> result`, a coroutine function or a plain one (`reply.MaybeAwaitable`)."""

_WAITING = {Coroutine, Ask}
"""The awaitable types that stand beside the result in `MaybeAwaitable`."""

_WRAPPERS = {Ask, Reply, Tagged, Encoded, Document, Stored}
"""The generic types around a result that say how it is sent."""

PATH_PARAM = re.compile(r"\{(?P<rest>\*?)(?P<name>[a-z][A-Za-z0-9]*)\}")
"""A parameter of a declared path; with a star it takes the rest of the path."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The declaration that a handler's annotations make.

    Args:
        parameters: the path's parameters, in order.
        query: how the query is decoded; None for a handler that takes no query.
        body: the type of the body, None for none.
        returns: the type of the result, without the wrappers that only say how it is sent.
    """

    parameters: tuple[PathParam, ...]
    query: QueryPlan | None
    body: object | None
    returns: object | None

    @classmethod
    def of(cls, handler: Handler, path: str, not_found: Mapping[str, type[NotFound]]) -> "Signature":
        """Read a handler's annotations, and check them against the path.

        Args:
            handler: the declared function.
            path: the path with `{camelCase}` parameters, of which the last may be a `{*rest}`.
            not_found: {argument's name: what a malformed parameter is refused with}; `NotFound` for the others.

        Raises:
            ValueError: path and arguments differ, the result has no annotation, or something follows a `{*rest}`.
            TypeError: the query is no struct, or has a field that text cannot express.
        """
        hints = get_type_hints(handler, include_extras=True)
        names = list(inspect.signature(handler).parameters)
        parameters = []
        for found in PATH_PARAM.finditer(path):
            wire, name = found["name"], snake(found["name"])
            if name not in hints:
                raise ValueError(f"{path}: {handler.__name__} does not take {name}")
            form = ParameterForm.of(hints[name])
            if found["rest"]:
                if form is not ParameterForm.TEXT or not path.endswith(f"/{found[0]}"):
                    raise ValueError(f"{path}: the rest of a path is text, and its last segments")
                form = ParameterForm.REST
            parameters.append(PathParam(wire, name, form, not_found.get(name, NotFound)))
        known = {"call", "socket", "body", "query", *(parameter.name for parameter in parameters)}
        strangers = [name for name in names if name not in known]
        if strangers or "return" not in hints:
            raise ValueError(f"{path}: {handler.__name__} has no place for {strangers or 'its result'}")
        query = hints.get("query")
        return cls(
            tuple(parameters),
            QueryPlan.of(query) if isinstance(query, type) else None,
            hints.get("body"),
            _described(hints["return"]),
        )


def template(path: str) -> str:
    """A declared path as documents and logs write it: `{rest}` for `{*rest}` (OpenAPI knows no such mark)."""
    return path.replace("{*", "{")


def snake(camel: str) -> str:
    """`conversationId` to `conversation_id`."""
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda upper: "_" + upper[0].lower(), camel)


def _described(returns: object) -> object | None:
    """The return annotation without the wrappers that only say how it is sent."""
    origin = get_origin(returns)
    if origin in _WRAPPERS:
        return _described(get_args(returns)[0])
    if origin in {Union, UnionType}:
        parts = {_described(part): None for part in get_args(returns) if get_origin(part) not in _WAITING}
        described: object = Union[tuple(NoneType if part is None else part for part in parts)]  # noqa: UP007
        return None if described is NoneType else described
    return None if returns is NoneType else returns


def wrappers_of(handler: Handler) -> frozenset[object]:
    """The wrappers around the result in a handler's annotation, which say how it is sent: `Tagged`, `Stored`, …."""
    return frozenset(_wrappers(get_type_hints(handler)["return"]))


def _wrappers(returns: object) -> Iterator[object]:
    origin = get_origin(returns)
    if origin in _WRAPPERS:
        yield origin
    if origin in _WRAPPERS or origin in {Union, UnionType}:
        for part in get_args(returns):
            yield from _wrappers(part)


def without_none(annotation: object | None) -> tuple[object | None, bool]:
    """(the annotation without None, whether None was part of it)."""
    if get_origin(annotation) in {Union, UnionType} and NoneType in get_args(annotation):
        rest = tuple(part for part in get_args(annotation) if part is not NoneType)
        return Union[rest], True  # noqa: UP007
    return annotation, False
