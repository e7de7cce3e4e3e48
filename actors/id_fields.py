"""Ids in bodies: a text that has no id's form is wrong where it stands; one that has it may name nothing, which is
another refusal.
"""

from collections.abc import Sequence

from actors.errors import FieldError, Invalid
from actors.ids import ObjectId, Uuid, parse_object_id, parse_uuid


def uuid_in(text: str, pointer: str) -> Uuid:
    """The uuid in a field, in lower case.

    Args:
        text: as the client sent it.
        pointer: of the field (RFC 6901).

    Raises:
        Invalid: it is no uuid.
    """
    id = parse_uuid(text)
    if id is None:
        raise Invalid(FieldError(pointer, "BAD_FORMAT", "not a uuid"))
    return id


def uuids_in(texts: Sequence[str], pointer: str) -> tuple[Uuid, ...]:
    """The uuids in a list, in lower case and in its order.

    Args:
        texts: as the client sent them.
        pointer: of the list (RFC 6901).

    Raises:
        Invalid: with each that is no uuid.
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
        text: as the client sent it.
        pointer: of the field (RFC 6901).

    Raises:
        Invalid: it is no objectId.
    """
    id = parse_object_id(text)
    if id is None:
        raise Invalid(FieldError(pointer, "BAD_FORMAT", "not an id of 24 hexadecimal digits"))
    return id
