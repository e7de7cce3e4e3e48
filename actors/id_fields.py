"""Ids in bodies: a text that has no id's form is wrong where it stands; one that has it may name nothing, which is
another refusal.
"""

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
