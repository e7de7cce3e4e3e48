"""The documents that describe the service are valid, complete and closed in themselves."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from jsonschema_rs import meta

from routes import TABLE
from routes.edge.declare.mounts import RouteTable
from routes.edge.declare.query import ParameterForm
from routes.edge.docs.asyncapi import asyncapi
from routes.edge.docs.openapi import openapi
from routes.edge.principal import PUBLIC

PROBLEM = "application/problem+json"


@pytest.fixture(scope="module")
def table() -> RouteTable:
    return TABLE


@pytest.fixture(scope="module")
def http(table: RouteTable) -> dict[str, Any]:
    return msgspec.json.decode(openapi(table))


@pytest.fixture(scope="module")
def sockets(table: RouteTable) -> dict[str, Any]:
    return msgspec.json.decode(asyncapi(table))


def _references(document: object) -> Iterator[str]:
    if isinstance(document, dict):
        for name, value in document.items():
            if name == "$ref":
                yield value
            yield from _references(value)
    elif isinstance(document, list):
        for value in document:
            yield from _references(value)


def _resolve(document: dict[str, Any], reference: str) -> Any:
    assert reference.startswith("#/"), f"{reference} leads outside"
    found: Any = document
    for part in reference[2:].split("/"):
        found = found[part.replace("~1", "/").replace("~0", "~")]
    return found


def _shared(node: Any, known: dict[bytes, Any]) -> Any:
    """The same document, in which equal parts are one object: the validator looks at an object once. Seven of eight of
    our schemas are refusals that many routes have."""
    if isinstance(node, dict):
        node = {name: _shared(inner, known) for name, inner in node.items()}
    elif isinstance(node, list):
        node = [_shared(inner, known) for inner in node]
    else:
        return node
    return known.setdefault(msgspec.json.encode(node), node)


def test_openapi_is_valid(http: dict[str, Any]):
    # Imported here, as it brings much along, and every process of the run collects this file.
    from openapi_spec_validator import OpenAPIV31SpecValidator

    validator = OpenAPIV31SpecValidator(_shared(http, {}))
    errors = [f"{list(error.absolute_path)}: {error.message}" for error in validator.iter_errors()]
    assert http["openapi"].startswith("3.1.")
    assert not errors, "\n".join(errors[:10])


def test_openapi_describes_every_endpoint(table: RouteTable, http: dict[str, Any]):
    operations = []
    for endpoint in table.endpoints:
        for path in endpoint.templates:
            operation = http["paths"][path][endpoint.method.lower()]
            operations.append(operation["operationId"])
            assert operation["description"], endpoint.line
            assert bool(operation.get("security", http.get("security"))) == (endpoint.needs is not PUBLIC)
            assert "default" in operation["responses"] or any(
                PROBLEM in response.get("content", {}) for response in operation["responses"].values()
            ), f"{endpoint.line} never fails"
    assert len(operations) == len(set(operations)), "an operation id is there twice"
    described = sum(len(item) for item in http["paths"].values())
    assert described == len(operations), "something is described that is not declared"


def _described(document: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(where, name, description or "") of each field and parameter."""
    for name, schema in document["components"]["schemas"].items():
        for field, described in schema.get("properties", {}).items():
            yield name, field, described.get("description", "")
    for path, item in document.get("paths", {}).items():
        for method, operation in item.items():
            for parameter in operation["parameters"]:
                yield f"{method} {path}", parameter["name"], parameter.get("description", "")
    for channel in document.get("channels", {}).values():
        query = channel["bindings"]["ws"].get("query", {}).get("properties", {})
        for name, described in (*channel.get("parameters", {}).items(), *query.items()):
            yield channel["address"], name, described.get("description", "")


def test_every_field_and_parameter_is_described(http: dict[str, Any], sockets: dict[str, Any]):
    known = [*_described(http), *_described(sockets)]
    assert [(where, name) for where, name, text in known if not text] == []
    said = {(name, text) for _, name, text in known}
    assert [name for name, text in TABLE.words.items() if (name, text) not in said] == [], "words for nothing"


def test_every_refusal_is_in_its_response(table: RouteTable, http: dict[str, Any]):
    for endpoint in table.endpoints:
        responses = http["paths"][endpoint.templates[0]][endpoint.method.lower()]["responses"]
        for refusal in endpoint.refusals:
            response = responses.get(str(refusal.status_hint))
            assert response is not None, f"{endpoint.line} does not say {refusal.status_hint}"
            assert refusal.code in msgspec.json.encode(response).decode(), f"{endpoint.line} {refusal.code}"


def test_asyncapi_describes_every_stream(table: RouteTable, sockets: dict[str, Any]):
    assert sockets["asyncapi"].startswith("3.")
    assert {"title", "version"} <= sockets["info"].keys()
    addresses = [channel["address"] for channel in sockets["channels"].values()]
    assert sorted(addresses) == sorted(stream.templates[0] for stream in table.streams)
    for name, operation in sockets["operations"].items():
        assert operation["action"] in ("send", "receive"), name
        channel = _resolve(sockets, operation["channel"]["$ref"])
        for message in operation["messages"]:
            assert message["$ref"].rpartition("/")[2] in channel["messages"], name


def test_every_stream_says_what_it_sends(table: RouteTable):
    silent = [stream.line for stream in table.streams if not stream.sends]
    assert not silent, silent


def test_asyncapi_describes_what_every_channel_shows(sockets: dict[str, Any]):
    """A frame's own struct says of `data` that it is JSON; the channel says what it is."""
    schemas = sockets["components"]["schemas"]
    channels = sockets["channels"]["socialLive"]["x-channels"]
    for name, shown in channels.items():
        assert shown["description"], name
        assert shown["snapshot"]["$ref"].rpartition("/")[2] in schemas, name
        assert shown["events"], name
    of_chat = channels["conversation:<id>"]
    assert of_chat["events"]["read"] == {"$ref": "#/components/schemas/ReadNotice"}
    assert of_chat["self"] == {"$ref": "#/components/schemas/OwnChoice"}
    updated = channels["inbox"]["events"]["conversation_updated"]["oneOf"]
    assert [one["$ref"].rpartition("/")[2] for one in updated] == ["Conversation", "ConversationGone"]


@pytest.mark.parametrize("name", ["http", "sockets"])
def test_documents_are_closed(name: str, request: pytest.FixtureRequest):
    document = request.getfixturevalue(name)
    for reference in _references(document):
        _resolve(document, reference)


@pytest.mark.parametrize("name", ["http", "sockets"])
def test_schemas_are_valid_and_used(name: str, request: pytest.FixtureRequest):
    """Of the sockets, queries are written out where they belong (the binding takes no reference)."""
    document = request.getfixturevalue(name)
    schemas = document["components"]["schemas"]
    for schema in schemas.values():
        meta.validate(schema)
    used = {reference.rpartition("/")[2] for reference in _references(document)}
    unused = {schema for schema in schemas if schema not in used and not schema.endswith("Query")}
    assert not unused, unused


@pytest.mark.parametrize("name", ["http", "sockets"])
def test_names_of_schemas_are_names_of_types(name: str, request: pytest.FixtureRequest):
    """Generators name a type by what stands behind the last dot. Where structs of two modules have the same name,
    theirs have dots, and all but one would be left out, with the operations that take them.
    """
    schemas = request.getfixturevalue(name)["components"]["schemas"]
    assert [one for one in schemas if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", one)] == []
    assert len({one.lower() for one in schemas}) == len(schemas)


def test_equal_refusals_are_one_type(http: dict[str, Any]):
    """A schema in place is a type of its own for generators: there were two for each refusal of each operation."""
    operations = [operation for item in http["paths"].values() for operation in item.values()]
    contents = [answer.get("content", {}) for one in operations for answer in one["responses"].values()]
    assert [
        one[PROBLEM]["schema"] for one in contents if PROBLEM in one and "$ref" not in one[PROBLEM]["schema"]
    ] == []


def _nodes(document: object) -> Iterator[dict[str, Any]]:
    if isinstance(document, dict):
        yield document
        for value in document.values():
            yield from _nodes(value)
    elif isinstance(document, list):
        for value in document:
            yield from _nodes(value)


@pytest.mark.parametrize("name", ["http", "sockets"])
def test_objects_and_lists_say_what_is_in_them(name: str, request: pytest.FixtureRequest):
    """An object of which nothing more is said is one without any members for generators, and a list without anything
    in it is left out.
    """
    nodes = list(_nodes(request.getfixturevalue(name)))
    objects = [one for one in nodes if one.get("type") == "object"]
    assert [one for one in objects if not one.keys() & {"properties", "additionalProperties"}] == []
    assert [one for one in nodes if one.get("type") == "array" and "items" not in one] == []


@pytest.mark.parametrize("name", ["http", "sockets"])
def test_what_has_to_be_an_object_is_described_as_one(name: str, request: pytest.FixtureRequest):
    schemas = request.getfixturevalue(name)["components"]["schemas"]
    fields = [
        (known, *one) for known, schema in schemas.items() for one in schema.get("properties", {}).items()
    ]
    objects = [
        one
        for one in fields
        if re.match(r"(an|any JSON|the JSON) object(?:;| of| that)", one[2].get("description", ""))
    ]
    assert objects
    assert [(known, field) for known, field, described in objects if described.get("type") != "object"] == []


def test_queries_are_described_as_they_are_read(table: RouteTable, http: dict[str, Any]):
    """An address has no null, and an id or a time that is none is refused."""
    forms, times = 0, 0
    for endpoint in table.endpoints:
        if endpoint.query is None:
            continue
        operation = http["paths"][endpoint.templates[0]][endpoint.method.lower()]
        schemas = {one["name"]: one["schema"] for one in operation["parameters"] if one["in"] == "query"}
        for name, known in endpoint.query.fields.items():
            schema = schemas[name]
            assert {"type": "null"} not in schema.get("anyOf", ()), f"{endpoint.line} {name}"
            assert schema.get("default", "") is not None, f"{endpoint.line} {name}"
            if known.reads in {ParameterForm.UUID, ParameterForm.OBJECT_ID}:
                forms += 1
                assert "format" in schema or "pattern" in schema, f"{endpoint.line} {name}"
            if name in {"since", "before"} and known.reads is str:
                times += 1
                assert schema["format"] == "date-time", f"{endpoint.line} {name}"
    assert forms
    assert times


def test_queries_of_sockets_have_no_null_either(sockets: dict[str, Any]):
    queries = [one["bindings"]["ws"].get("query", {}) for one in sockets["channels"].values()]
    fields = [one for query in queries for one in query.get("properties", {}).items()]
    assert fields
    assert [name for name, schema in fields if {"type": "null"} in schema.get("anyOf", ())] == []
    assert [name for name, schema in fields if schema.get("default", "") is None] == []


@pytest.mark.parametrize("name", ["http", "sockets"])
def test_patterns_look_neither_ahead_nor_back(name: str, request: pytest.FixtureRequest):
    """The expressions of Go and Rust cannot, and JSON Schema advises against it."""
    patterns = [one.get("pattern") for one in _nodes(request.getfixturevalue(name))]
    assert [one for one in patterns if isinstance(one, str) and re.search(r"\(\?[!=<]", one)] == []
