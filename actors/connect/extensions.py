"""Extensions of game servers: their ids, their actions, and checks of what a server registers (contract §7). Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

import msgspec

from actors.bounds import IdText, ruled, whole
from actors.connect.schemas import Schema, faults, fitted, misfits
from actors.errors import Invalid
from actors.field_errors import FieldError
from actors.stored_json import values_in
from actors.texts import line, lines
from persistence.connect.extensions import NODE
from persistence.connect.rows import RegistrationRow

CONNECT = "connect"
"""The source of the settings that the service itself reads: `data.temp`. No extension may be called so."""

MAX_ACTIONS = 64

NO_SCHEMA = msgspec.Raw(b"")
"""The text of the schema of an action that has none."""

_ID = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?", re.ASCII)

MAX_TEXT_CHARACTERS = 500
MAX_NAME_CHARACTERS = 100

ExtensionId = Annotated[IdText, ruled(pattern=whole(_ID))]
"""The id of an extension as the client sent it; `is_extension_id` checks it."""

Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT_CHARACTERS)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARACTERS)]
"""The name of an extension, or of a service made of one, as the client sent it; `named` checks its characters."""


class Action(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """An action of an extension, which commands can ask for.

    Args:
        id: the command's `action`.
        label: its name for people.
        description: what it does, for people.
        schema: the schema of the command's payload; None without one.
    """

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    label: Text | None = None
    description: Text | None = None
    schema: Schema | None = None


SchemaTexts: TypeAlias = Mapping[str, msgspec.Raw]
"""The actions of one registration: {id of an action: JSON text of its schema, `NO_SCHEMA` without one}."""

Registered: TypeAlias = Mapping[str, SchemaTexts]
"""The actions of one server: {extension id: its actions}."""


class _Entry(msgspec.Struct, frozen=True, gc=False):
    id: str
    schema: msgspec.Raw = NO_SCHEMA


_entries = msgspec.json.Decoder(tuple[_Entry, ...])


def is_extension_id(text: str) -> bool:
    """Whether the text is 1 to 64 of a-z, 0-9, `.`, `_` and `-`, begins and ends with a letter or digit, has no two
    dots in a row, and is not `connect`.
    """
    return _ID.fullmatch(text) is not None and ".." not in text and text != CONNECT


def named(name: str) -> str:
    """The name of an extension or service, trimmed.

    Raises:
        Invalid: the name is empty, or not one line of printable characters.
    """
    return line(name.strip(), "/name", MAX_NAME_CHARACTERS)


def described(description: str) -> str:
    """The description of an extension, with line feeds for line breaks.

    Raises:
        Invalid: the description has other control characters.
    """
    return lines(description, "/description", MAX_TEXT_CHARACTERS)


def node_of(extension_id: str) -> str:
    """The permission node that a user needs to change an extension."""
    return NODE + extension_id


def action_faults(actions: Sequence[Action]) -> Iterator[FieldError]:
    """The errors in actions that are to be registered."""
    seen: set[str] = set()
    for index, action in enumerate(actions):
        if action.id in seen:
            yield FieldError(f"/actions/{index}/id", "DUPLICATE", "two actions have this id")
        seen.add(action.id)
        if action.schema is not None:
            yield from faults(action.schema, f"/actions/{index}/schema")


def schema_texts(registration: RegistrationRow) -> SchemaTexts:
    """The actions of a registration by their ids. The texts of their schemas are slices of the row's text and are not
    decoded: that takes 0.05 ms for 64 KiB in place of 0.8 ms.
    """
    return {entry.id: entry.schema for entry in _entries.decode(registration.actions)}


def registered(registrations: Iterable[RegistrationRow]) -> Registered:
    """The actions of all registrations of a server."""
    return {one.extension_id: schema_texts(one) for one in registrations}


def find_action(
    known: Registered, action_id: str, extension_id: str | None
) -> tuple[str, msgspec.Raw] | None:
    """Find the extension that brings an action; None when no registered one does and none was named.

    Nothing is decoded: every command comes by here twice, and a server may have 2 MB of actions.

    Args:
        known: the actions of the server.
        action_id: the command's `action`.
        extension_id: the only extension to look in, or None for all.

    Returns:
        The extension's id, and the JSON text of the action's schema.

    Raises:
        Invalid: the named extension does not bring the action, or several do and none is named.
    """
    if extension_id is not None:
        named = known.get(extension_id)
        if named is None:
            raise Invalid(
                FieldError("/extensionId", "UNKNOWN", "the server has not registered this extension")
            )
        if action_id not in named:
            raise Invalid(FieldError("/action", "UNKNOWN", "the extension has no such action"))
        return extension_id, named[action_id]
    found = [(id, actions[action_id]) for id, actions in known.items() if action_id in actions]
    if len(found) > 1:
        raise Invalid(FieldError("/extensionId", "REQUIRED", "several extensions have this action"))
    return found[0] if found else None


def fitted_payload(
    payload: Mapping[str, Any], schema_text: msgspec.Raw
) -> tuple[Mapping[str, Any], frozenset[str]]:
    """(the payload with the defaults of an action's schema, the keys of its secret values). That schema alone is
    decoded for it.

    Args:
        payload: the payload of a command, of bounded length.
        schema_text: the JSON text of the action's schema, at most 64 KiB; `NO_SCHEMA` leaves the payload as it is.

    Raises:
        Invalid: the payload does not fit the schema.
    """
    schema = None
    if schema_text != NO_SCHEMA:
        schema = msgspec.convert(values_in(bytes(schema_text)), Schema | None)
    if schema is None:
        return payload, frozenset()
    filled = fitted(payload, schema)
    errors = tuple(misfits(filled, schema, "/payload"))
    if errors:
        raise Invalid(*errors)
    return filled, frozenset(key for key in schema.secret_keys if filled.get(key) is not None)
