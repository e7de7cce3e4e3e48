"""Ids in bodies: a text that has no id's form is wrong where it stands; one that has it may name nothing, which is
another refusal.
"""

from collections.abc import Sequence

from actors.errors import Invalid
from actors.field_errors import FieldError
from actors.ids import ObjectId, Uuid, parse_object_id, parse_uuid


def uuid_in(text: str, pointer: str) -> Uuid:
    """The uuid in a field, in lower case.

    Args:
        text: the field as the client sent it.
        pointer: the JSON pointer to the field (RFC 6901).

    Raises:
        Invalid: the text is no uuid.
    """
    id = parse_uuid(text)
    if id is None:
        raise Invalid(FieldError(pointer, "BAD_FORMAT", "not a uuid"))
    return id


def uuids_in(texts: Sequence[str], pointer: str) -> tuple[Uuid, ...]:
    """The uuids in a list, in lower case and in its order.

    Args:
        texts: the items as the client sent them.
        pointer: the JSON pointer to the list (RFC 6901).

    Raises:
        Invalid: some texts are no uuids; it has an error for each.
    """
    ids = [parse_uuid(text) for text in texts]
    flaws = [
        FieldError(f"{pointer}/{place}", "BAD_FORMAT", "not a uuid")
        for place, id in enumerate(ids)
        if id is None
    ]
    if flaws:
        raise Invalid(*flaws)
    return tuple(id for id in ids if id is not None)


def object_id_in(text: str, pointer: str) -> ObjectId:
    """The objectId in a field, in lower case.

    Args:
        text: the field as the client sent it.
        pointer: the JSON pointer to the field (RFC 6901).

    Raises:
        Invalid: the text is no objectId.
    """
    id = parse_object_id(text)
    if id is None:
        raise Invalid(FieldError(pointer, "BAD_FORMAT", "not an id of 24 hexadecimal digits"))
    return id
