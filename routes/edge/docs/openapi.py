"""OpenAPI 3.1, made from the declarations alone.

Every refusal is listed under its status with its codes (`refusing.py`).
"""

from collections.abc import Iterator
from functools import lru_cache
from http import HTTPStatus
from types import NoneType

import orjson

from routes.edge.declare.endpoint import JSON_MEDIA
from routes.edge.declare.mounts import RouteTable
from routes.edge.declare.query import ParameterForm
from routes.edge.declare.route import RAW_BODIES, Endpoint
from routes.edge.docs.headers import (
    CONDITION_PARAMETER,
    HEADERS,
    KEY_PARAMETER,
    headers_of,
    is_revalidated,
    takes_condition,
)
from routes.edge.docs.parameters import FORMS, as_read
from routes.edge.docs.refusing import by_status, refusals_of
from routes.edge.docs.schemas import (
    ANY_JSON,
    Schema,
    Schemas,
    alternatives,
    camel,
    one_of,
    paragraphs,
    title,
    used,
)
from routes.edge.docs.version import VERSION
from routes.edge.principal import PUBLIC, SERVER
from routes.edge.problems import Problem
from routes.edge.reply import Blob, Page, Redirect

_REST = "The rest of the path: its slashes are part of it, and may be sent as they are or as `%2F`."


@lru_cache(maxsize=4)
def openapi(table: RouteTable) -> bytes:
    """The OpenAPI document, as JSON.

    Args:
        table: the declared routes.
    """
    return orjson.dumps(document(table))


def document(table: RouteTable) -> Schema:
    """The OpenAPI document, as plain values."""
    schemas = Schemas([Problem, *_received(table), *_sent(table)], _received(table), table.words)
    paths: Schema = {}
    for endpoint in table.endpoints:
        for number, path in enumerate(endpoint.templates):
            operation = _operation(endpoint, schemas)
            if number:
                operation["operationId"] += f"Alias{number}"
            paths.setdefault(path, {})[endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Partyline",
            "version": VERSION,
            "description": "Chat, friends, parties and game servers. The streams: /asyncapi.json. In what you send, "
            "null for a field with a default stands for that default.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": area} for area in dict.fromkeys(endpoint.area for endpoint in table.endpoints)],
        "paths": paths,
        "components": {
            "schemas": used(paths, schemas.components),
            "headers": HEADERS,
            "securitySchemes": {
                "user": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
                "server": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A server's secret or delegated token.",
                },
                "serverId": {"type": "apiKey", "in": "header", "name": "X-Server-Id"},
            },
        },
    }


def _security(endpoint: Endpoint) -> list[Schema]:
    """The kinds of credentials that the endpoint takes."""
    user: Schema = {"user": []}
    server: Schema = {"server": [], "serverId": []}
    if endpoint.needs is PUBLIC:
        return []
    if endpoint.needs is SERVER:
        return [server]
    return [user, server] if endpoint.shared else [user]


def _received(table: RouteTable) -> Iterator[object]:
    for endpoint in table.endpoints:
        if endpoint.body not in (None, *RAW_BODIES):
            yield endpoint.body
        if endpoint.query is not None:
            yield endpoint.query.struct


def _sent(table: RouteTable) -> Iterator[object]:
    for endpoint in table.endpoints:
        yield from (
            known for known in _parts(endpoint.returns) if known not in {NoneType, Blob, Page, Redirect}
        )


def _parts(returns: object) -> tuple[object, ...]:
    """The types that a handler may return; `NoneType` for a 204."""
    return (NoneType,) if returns is None else alternatives(returns)


def _operation(endpoint: Endpoint, schemas: Schemas) -> Schema:
    operation: Schema = {
        "operationId": camel(endpoint.name),
        "summary": title(endpoint.name),
        "description": _description(endpoint),
        "tags": [endpoint.area],
        "security": _security(endpoint),
        "parameters": list(_parameters(endpoint, schemas)),
        "responses": _responses(endpoint, schemas),
    }
    if endpoint.body is not None:
        operation["requestBody"] = {
            "required": not endpoint.body_optional,
            "content": {media: {"schema": _body(endpoint, media, schemas)} for media in endpoint.media},
        }
    return operation


def _body(endpoint: Endpoint, media: str, schemas: Schemas) -> Schema:
    """The schema of a body; JSON whose bytes the handler takes as they come, to check who signed them, is any JSON."""
    if endpoint.body not in RAW_BODIES:
        return schemas.of(endpoint.body)
    return ANY_JSON if media == JSON_MEDIA else {"type": "string", "format": "binary"}


def _description(endpoint: Endpoint) -> str:
    text = paragraphs(endpoint.handler.__doc__)
    if endpoint.needs is PUBLIC:
        return text
    if isinstance(endpoint.needs, str) and f"`{endpoint.needs}`" in text:
        return text
    needs = f"permission `{endpoint.needs}`" if isinstance(endpoint.needs, str) else endpoint.needs.value
    return f"{text}\n\nNeeds: {needs}.".strip()


def _parameters(endpoint: Endpoint, schemas: Schemas) -> Iterator[Schema]:
    for parameter in endpoint.parameters:
        described: Schema = {
            "name": parameter.wire,
            "in": "path",
            "required": True,
            "schema": FORMS[parameter.form],
        }
        if meaning := _REST if parameter.form is ParameterForm.REST else schemas.meaning(parameter.wire):
            described["description"] = meaning
        yield described
    if endpoint.query is not None:
        own = schemas.of(endpoint.query.struct)
        struct = schemas.components[own["$ref"].rpartition("/")[2]]
        for wire, known in endpoint.query.fields.items():
            described = {
                "name": wire,
                "in": "query",
                "required": wire in struct.get("required", ()),
                "schema": as_read(struct["properties"][wire], known),
            }
            said = [described["schema"].pop("description", "")]
            if known.clamp is not None:
                said.append(f"Moved into {known.clamp.least} to {known.clamp.most}.")
            if any(said):
                described["description"] = " ".join(filter(None, said))
            yield described
    if endpoint.keyed:
        yield KEY_PARAMETER
    if takes_condition(endpoint):
        yield CONDITION_PARAMETER


def _responses(endpoint: Endpoint, schemas: Schemas) -> Schema:
    responses: Schema = {}
    bodies: list[Schema] = []
    for part in _parts(endpoint.returns):
        if part is NoneType:
            responses["204"] = _response(endpoint, HTTPStatus.NO_CONTENT)
        elif part is Redirect:
            responses["302"] = _response(endpoint, HTTPStatus.FOUND)
        elif part in {Blob, Page}:
            responses |= _binary(endpoint, part)
        else:
            bodies.append(schemas.of(part))
    if bodies:
        content = {"application/json": {"schema": one_of(bodies)}}
        for status in (endpoint.status, endpoint.found_status):
            if status is not None:
                responses[str(status)] = _response(endpoint, HTTPStatus(status), content)
    if is_revalidated(endpoint):
        responses["304"] = _response(endpoint, HTTPStatus.NOT_MODIFIED)
    refusals = refusals_of(endpoint, ranges=Blob in _parts(endpoint.returns))
    for refused in by_status(refusals, schemas):
        content = {Problem.media_type: {"schema": refused.schema}}
        responses[str(refused.status.value)] = _response(endpoint, refused.status, content, refused.text)
    return responses


def _binary(endpoint: Endpoint, part: object) -> Schema:
    media = endpoint.produces or ("text/html" if part is Page else "*/*")
    content = {
        media: {"schema": {"type": "string", "format": "binary"} if part is Blob else {"type": "string"}}
    }
    statuses = (HTTPStatus(endpoint.status), *((HTTPStatus.PARTIAL_CONTENT,) if part is Blob else ()))
    return {str(status.value): _response(endpoint, status, content) for status in statuses}


def _response(
    endpoint: Endpoint, status: HTTPStatus, content: Schema | None = None, text: str | None = None
) -> Schema:
    response: Schema = {"description": text or status.phrase, "headers": headers_of(endpoint, status)}
    if content is not None:
        response["content"] = content
    return response
