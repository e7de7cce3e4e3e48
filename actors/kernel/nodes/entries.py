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
        sentence: of a refusal, or a limit; other failures tell callers no more than their type.
        meta: small facts of a refusal; of a limit, how many may be.
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
        fence: under which the receiver owns its shard, as the sender knows; 0 where that is not said.
    """

    kind: str
    id: str
    name: str
    command: bytes
    fence: int = 0


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


class Follow(msgspec.Struct, frozen=True, array_like=True, tag="follow"):
    """The sender shows an owner of the receiver's, and wants to be told of all its turns from now on.

    Args:
        number: the sender's, for the answer.
        kind, id: which owner; it is not woken.
        fence: under which the receiver owns its shard, as the sender knows.
    """

    number: int
    kind: str
    id: str
    fence: int


class Following(msgspec.Struct, frozen=True, array_like=True, tag="following"):
    """The answer to `Follow`, after all turns before it and before all turns after it.

    Args:
        number: of the question.
        kind, id: which owner.
        is_here: whether the sender owns it, and tells of it.
        epoch, version: where it stands; -1 while it is not in memory, and its rows say that.
    """

    number: int
    kind: str
    id: str
    is_here: bool
    epoch: str
    version: int


class Unfollow(msgspec.Struct, frozen=True, array_like=True, tag="unfollow"):
    """The sender shows an owner of the receiver's no more."""

    kind: str
    id: str


class Turned(msgspec.Struct, frozen=True, array_like=True, tag="turned"):
    """A turn of an owner, for nodes that follow it.

    Args:
        kind, id: which owner.
        epoch: the name of its history.
        version: how many turns it has taken that are in rows, this one included if it is.
        is_durable: this one is.
        events: in order, encoded.
    """

    kind: str
    id: str
    epoch: str
    version: int
    is_durable: bool
    events: list[bytes]


class Stands(msgspec.Struct, frozen=True, array_like=True, tag="stands"):
    """Where an owner stands that was loaded, or has taken a turn that is too large to be told, or says too little.

    Args:
        kind, id: which owner.
        epoch, version: as in `Turned`.
    """

    kind: str
    id: str
    epoch: str
    version: int


class Dropped(msgspec.Struct, frozen=True, array_like=True, tag="dropped"):
    """Too much waits for the receiver: it is told of no owner of the sender's until it follows again."""


class Said(msgspec.Struct, frozen=True, array_like=True, tag="said"):
    """Something that is not the kernel's.

    Args:
        topic: who understands it.
        body: what it is.
    """

    topic: str
    body: bytes


Entry: TypeAlias = (
    Owns
    | Asked
    | Answered
    | Moved
    | Told
    | Touched
    | Heard
    | Follow
    | Following
    | Unfollow
    | Turned
    | Stands
    | Dropped
    | Said
)

encode = msgspec.msgpack.Encoder().encode
"""The bytes of an entry, or of what is in one."""

decode = msgspec.msgpack.Decoder(Entry).decode
"""The entry that was encoded; raises msgspec.DecodeError for what is none."""
