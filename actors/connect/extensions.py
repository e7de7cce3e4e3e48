"""Extensions of game servers: their ids, their actions, and checks of what a server registers (contract §7). Pure."""

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
    """An action of an extension, which commands can ask for.

    Args:
        id: the command's `action`.
        schema: of the command's payload.
    """

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    label: Text | None = None
    description: Text | None = None
    schema: Schema | None = None


def is_extension_id(text: str) -> bool:
    """Whether the text is 1 to 64 of a-z, 0-9, `.`, `_` and `-`, begins and ends with a letter or digit, and has no
    two dots in a row.
    """
    return _ID.fullmatch(text) is not None and ".." not in text


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


def actions_of(registration: RegistrationRow) -> tuple[Action, ...]:
    """A registration's actions, decoded."""
    return msgspec.convert(values_in(registration.actions), tuple[Action, ...])


def find_action(
    registrations: Mapping[str, RegistrationRow], action_id: str, extension_id: str | None
) -> tuple[str, Action] | None:
    """Find the extension that brings an action; None when no registered one does and none was named.

    Args:
        registrations: of the server.
        action_id: the command's `action`.
        extension_id: the only extension to look in, or None for all.

    Returns:
        The extension's id, and the action.

    Raises:
        Invalid: the named extension does not bring the action, or several do and none is named.
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
