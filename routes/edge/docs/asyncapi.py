"""AsyncAPI 3.0 of the declared streams, made from the structs that are sent and received on them."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import orjson

from routes.edge.declare.mounts import RouteTable
from routes.edge.declare.route import Stream
from routes.edge.declare.shown import ShownChannel
from routes.edge.docs.parameters import as_read
from routes.edge.docs.refusing import by_status, refusals_of_handshake
from routes.edge.docs.schemas import Schema, Schemas, alternatives, camel, one_of, paragraphs, title, used
from routes.edge.docs.version import VERSION
from routes.edge.principal import PUBLIC
from routes.edge.problems import Problem


@lru_cache(maxsize=4)
def asyncapi(table: RouteTable) -> bytes:
    """The AsyncAPI document, as JSON.

    Args:
        table: the declared routes.
    """
    return orjson.dumps(document(table))


def document(table: RouteTable) -> Schema:
    """The AsyncAPI document, as plain values."""
    types = (Problem, *_sent(table.streams), *_received(table.streams))
    schemas = Schemas(types, _received(table.streams), table.words)
    channels: Schema = {}
    operations: Schema = {}
    messages: Schema = {}
    for stream in table.streams:
        name = camel(stream.name)
        sent, received = (_messages(frames, schemas, messages) for frames in (stream.sends, stream.receives))
        channels[name] = _channel(stream, schemas, {**sent, **received})
        for action, frames in (("send", sent), ("receive", received)):
            if frames:
                operations[f"{name}.{action}"] = {
                    "action": action,
                    "channel": {"$ref": f"#/channels/{name}"},
                    "messages": [{"$ref": f"#/channels/{name}/messages/{frame}"} for frame in frames],
                }
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Partyline, live",
            "version": VERSION,
            "description": (
                "JSON text frames, one object each. `send` is what the service sends. Where a handshake is refused, "
                "the answer is HTTP with a problem document: see `x-refusals` of its channel, by status."
            ),
        },
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": operations,
        "components": {
            "schemas": used({"channels": channels, "messages": messages}, schemas.components),
            "messages": messages,
            "securitySchemes": {"user": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


def _received(streams: Iterable[Stream]) -> Iterator[object]:
    for stream in streams:
        yield from stream.receives
        if stream.query is not None:
            yield stream.query.struct


def _sent(streams: Iterable[Stream]) -> Iterator[object]:
    for stream in streams:
        yield from stream.sends
        for channel in stream.shows:
            yield channel.shows.snapshot
            if channel.shows.own is not None:
                yield channel.shows.own
            for data in channel.shows.events.values():
                yield from alternatives(data)


def _messages(frames: Iterable[object], schemas: Schemas, messages: Schema) -> Schema:
    """{name: reference} of the messages of one direction; adds the messages to the components."""
    references = {}
    for frame in frames:
        schema = schemas.of(frame)
        name = schema["$ref"].rpartition("/")[2] if "$ref" in schema else f"Frame{len(messages) + 1}"
        messages[name] = {"name": name, "payload": schema}
        references[name] = {"$ref": f"#/components/messages/{name}"}
    return references


def _channel(stream: Stream, schemas: Schemas, references: Schema) -> Schema:
    channel: Schema = {
        "address": stream.templates[0],
        "title": title(stream.name),
        "description": paragraphs(stream.handler.__doc__),
        "messages": references,
    }
    if stream.shows:
        channel["x-channels"] = {one.name: _shown(one, schemas) for one in stream.shows}
    if stream.parameters:
        meanings = {one.wire: schemas.meaning(one.wire) for one in stream.parameters}
        channel["parameters"] = {
            name: {"description": says} if says else {} for name, says in meanings.items()
        }
    channel["x-refusals"] = {
        str(refused.status.value): {
            "description": refused.text,
            "content": {Problem.media_type: {"schema": refused.schema}},
        }
        for refused in by_status(refusals_of_handshake(stream), schemas)
    }
    binding: Schema = {"method": "GET", "bindingVersion": "0.1.0"}
    if stream.query is not None:
        struct = schemas.components[schemas.of(stream.query.struct)["$ref"].rpartition("/")[2]]
        fields = stream.query.fields.values()
        binding["query"] = struct | {
            "properties": {one.wire: as_read(struct["properties"][one.wire], one) for one in fields}
        }
    channel["bindings"] = {"ws": binding}
    if stream.needs is not PUBLIC:
        channel["description"] += (
            "\n\nThe token travels in Authorization, or as subprotocol `svc-bearer.<token>` beside `svc.v1`."
        )
    return channel


def _shown(channel: ShownChannel, schemas: Schemas) -> Schema:
    """A channel of a socket that has several: who may watch it, and the `data` of its frames."""
    shows = channel.shows
    return {
        "needs": list(channel.needs),
        "description": shows.says,
        "snapshot": schemas.of(shows.snapshot),
        "events": {
            name: one_of([schemas.of(part) for part in alternatives(data)])
            for name, data in shows.events.items()
        },
        **({"self": schemas.of(shows.own)} if shows.own is not None else {}),
    }
