"""Extensions of game servers: what they are called by, the actions that they bring, and what a server registers
(contract §7). Pure.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import msgspec

from actors.connect.schemas import Schema, faults
from actors.errors import FieldError, Invalid
from actors.stored_json import values_in
from persistence.connect.extensions import NODE
from persistence.connect.rows import RegistrationRow

MAX_ACTIONS = 64

MAX_ID_CHARACTERS = 64
_ID = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?", re.ASCII)

Text = Annotated[str, msgspec.Meta(max_length=500)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class Action(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Something that a command can ask of an extension.

    Args:
        id: the command's `action`.
        schema: of the command's payload.
    """

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    label: Text | None = None
    description: Text | None = None
    schema: Schema | None = None


def is_extension_id(text: str) -> bool:
    """1 to 64 of a-z, 0-9, `.`, `_` and `-`, beginning and ending with a letter or digit, never two dots in a row."""
    return _ID.fullmatch(text) is not None and ".." not in text


def node_of(extension_id: str) -> str:
    """The permission of who may change an extension."""
    return NODE + extension_id


def action_faults(actions: Sequence[Action]) -> Iterator[FieldError]:
    """What is wrong with actions that are to be registered."""
    seen: set[str] = set()
    for index, action in enumerate(actions):
        if action.id in seen:
            yield FieldError(f"/actions/{index}/id", "DUPLICATE", "two actions have this id")
        seen.add(action.id)
        if action.schema is not None:
            yield from faults(action.schema, f"/actions/{index}/schema")


def actions_of(registration: RegistrationRow) -> tuple[Action, ...]:
    """The actions as structs."""
    return msgspec.convert(values_in(registration.actions), tuple[Action, ...])


def find_action(
    registrations: Mapping[str, RegistrationRow], action_id: str, extension_id: str | None
) -> tuple[str, Action] | None:
    """The extension that brings an action, and the action; None for an action that is nobody's.

    Args:
        registrations: of the server.
        extension_id: the one that is meant, or None for any.

    Raises:
        Invalid: that extension does not bring it, or several do and none is named.
    """
    if extension_id is not None:
        named = registrations.get(extension_id)
        if named is None:
            raise Invalid(
                FieldError("/extensionId", "UNKNOWN", "the server has not registered this extension")
            )
        found = [(extension_id, action) for action in actions_of(named) if action.id == action_id]
        if not found:
            raise Invalid(FieldError("/action", "UNKNOWN", "the extension has no such action"))
        return found[0]
    found = [
        (one.extension_id, action)
        for one in registrations.values()
        for action in actions_of(one)
        if action.id == action_id
    ]
    if len(found) > 1:
        raise Invalid(FieldError("/extensionId", "REQUIRED", "several extensions have this action"))
    return found[0] if found else None
