"""What nodes say to each other, each an entry of a link. All are kept: they arrive once and in order, or the receiver
is told that it has to begin anew.
"""

from typing import Any, TypeAlias

import msgspec

from actors.errors import FieldError


class Owns(msgspec.Struct, frozen=True, array_like=True, tag="owns"):
    """A node owns these shards now.

    Args:
        node: which.
        fences: {shard: fence}.
    """

    node: str
    fences: dict[int, int]


class Asked(msgspec.Struct, frozen=True, array_like=True, tag="asked"):
    """A command for an owner at the receiver's, from a caller who waits.

    Args:
        number: the sender's, for the answer.
        kind, id: which owner.
        fence: under which the receiver owns its shard, as the sender knows.
        name: of the command's type.
        command: encoded.
        left_ms: how long the caller still waits.
    """

    number: int
    kind: str
    id: str
    fence: int
    name: str
    command: bytes
    left_ms: int


class Answered(msgspec.Struct, frozen=True, array_like=True, tag="answered"):
    """The answer to a command.

    Args:
        number: of the question.
        reply: encoded; None for none, and beside a failure.
        failure: why there is no reply; None when it went well.
    """

    number: int
    reply: bytes | None
    failure: "Failed | None" = None


class Failed(msgspec.Struct, frozen=True, array_like=True):
    """What went wrong with a command.

    Args:
        name: of the exception's type.
        sentence: of a refusal; other failures tell callers no more than their type.
        meta: small facts of a refusal.
        errors: the broken fields of one.
    """

    name: str
    sentence: str = ""
    meta: dict[str, Any] = {}
    errors: tuple[FieldError, ...] = ()


class Moved(msgspec.Struct, frozen=True, array_like=True, tag="moved"):
    """A command was not decided, because another node has its owner.

    Args:
        number: of the question.
        node: that has it, as the sender knows.
        fence: under which.
    """

    number: int
    node: str
    fence: int


class Told(msgspec.Struct, frozen=True, array_like=True, tag="told"):
    """A command without a caller, for an owner that lives at the receiver's.

    Args:
        kind, id: which owner.
        name: of the command's type.
        command: encoded.
    """

    kind: str
    id: str
    name: str
    command: bytes


class Touched(msgspec.Struct, frozen=True, array_like=True, tag="touched"):
    """A committed event of an owner changes these views, where they are watched.

    Args:
        view: its name.
        ids: of the views.
        source: the id of the owner.
    """

    view: str
    ids: list[str]
    source: str


class Heard(msgspec.Struct, frozen=True, array_like=True, tag="heard"):
    """An event of an owner that memory everywhere follows.

    Args:
        kind, id: whose.
        name: of the event's type; empty to have memory ask the owner.
        event: encoded.
    """

    kind: str
    id: str
    name: str
    event: bytes


class Said(msgspec.Struct, frozen=True, array_like=True, tag="said"):
    """Something that is not the kernel's.

    Args:
        topic: who understands it.
        body: what it is.
    """

    topic: str
    body: bytes


Entry: TypeAlias = Owns | Asked | Answered | Moved | Told | Touched | Heard | Said

encode = msgspec.msgpack.Encoder().encode
"""The bytes of an entry, or of what is in one."""

decode = msgspec.msgpack.Decoder(Entry).decode
"""The entry that was encoded; raises msgspec.DecodeError for what is none."""
