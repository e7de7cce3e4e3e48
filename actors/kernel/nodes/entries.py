"""What nodes say to each other, each an entry of a link. Entries arrive once and in order, or the receiver is told that
some are lost and it has to begin anew.
"""

from typing import Any, TypeAlias

import msgspec

from actors.field_errors import FieldError


class Owns(msgspec.Struct, frozen=True, array_like=True, tag="owns"):
    """A node owns these shards now.

    Args:
        node: the name of the owner.
        fences: the shards, and the fence under which each is owned, {shard: fence}.
    """

    node: str
    fences: dict[int, int]


class Asked(msgspec.Struct, frozen=True, array_like=True, tag="asked"):
    """A command for an owner on the receiving node, from a caller who waits.

    Args:
        number: the sender's number of this question, which the answer names.
        kind, id: which owner.
        fence: the fence under which the receiver owns its shard, as far as the sender knows.
        name: the name of the command's type.
        command: the encoded command.
        left_ms: for how many milliseconds the caller still waits.
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
        number: the number of the question (`Asked`).
        reply: the encoded reply; None when the command has none, or failed.
        failure: why there is no reply; None when the command took effect.
    """

    number: int
    reply: bytes | None
    failure: "Failed | None" = None


class Failed(msgspec.Struct, frozen=True, array_like=True):
    """What went wrong with a command.

    Args:
        name: the name of the exception's type.
        sentence: the text of a refusal or a limit; other failures tell callers no more than their type.
        meta: the refusal's `meta`; of a limit, `most`: how many are allowed.
        errors: the broken fields, where the refusal is `Invalid`.
    """

    name: str
    sentence: str = ""
    meta: dict[str, Any] = {}
    errors: tuple[FieldError, ...] = ()


class Moved(msgspec.Struct, frozen=True, array_like=True, tag="moved"):
    """A command was not decided, because another node has its owner.

    Args:
        number: the number of the question (`Asked`).
        node: the name of the node that has the owner, as far as the sender knows.
        fence: the fence under which that node has it.
    """

    number: int
    node: str
    fence: int


class Told(msgspec.Struct, frozen=True, array_like=True, tag="told"):
    """A command without a caller, for an owner on the receiving node.

    Args:
        kind, id: which owner.
        name: the name of the command's type.
        command: the encoded command.
        fence: the fence under which the receiver owns its shard, as far as the sender knows; 0 where that is not
            said.
    """

    kind: str
    id: str
    name: str
    command: bytes
    fence: int = 0


class Touched(msgspec.Struct, frozen=True, array_like=True, tag="touched"):
    """A committed event of an owner changes these views, where they are watched.

    Args:
        view: the name of the `View`.
        ids: the ids of these views.
        source: the id of the owner whose event it was.
    """

    view: str
    ids: list[str]
    source: str


class Heard(msgspec.Struct, frozen=True, array_like=True, tag="heard"):
    """An event of an owner that memory everywhere follows.

    Args:
        kind, id: the owner.
        name: the name of the event's type; empty to have memory ask the owner instead.
        event: the encoded event.
        fence: the fence under which the sender owns the shard; 0 where a release tells it that knows no fence here.
    """

    kind: str
    id: str
    name: str
    event: bytes
    fence: int = 0


class Follow(msgspec.Struct, frozen=True, array_like=True, tag="follow"):
    """The sender shows an owner of the receiving node, and wants to be told of all its turns from now on.

    Args:
        number: the sender's number of this question, which the answer names.
        kind, id: which owner; it is not loaded for this.
        fence: the fence under which the receiver owns its shard, as far as the sender knows.
    """

    number: int
    kind: str
    id: str
    fence: int


class Following(msgspec.Struct, frozen=True, array_like=True, tag="following"):
    """The answer to `Follow`, after all turns before it and before all turns after it.

    Args:
        number: the number of the question (`Follow`).
        kind, id: which owner.
        is_here: whether the sender owns it, and tells of its turns.
        epoch, version: the epoch and version of its state; "" and -1 while it is not in memory: its rows say where it
            stands.
    """

    number: int
    kind: str
    id: str
    is_here: bool
    epoch: str
    version: int


class Unfollow(msgspec.Struct, frozen=True, array_like=True, tag="unfollow"):
    """The sender no longer shows an owner of the receiving node."""

    kind: str
    id: str


class Turned(msgspec.Struct, frozen=True, array_like=True, tag="turned"):
    """A turn of an owner, for nodes that follow it.

    Args:
        kind, id: which owner.
        epoch: the name of its history.
        version: how many turns it has taken that are in rows, this one included if it is.
        is_durable: whether this turn is in rows.
        events: the encoded events, in order.
    """

    kind: str
    id: str
    epoch: str
    version: int
    is_durable: bool
    events: list[bytes]


class Stands(msgspec.Struct, frozen=True, array_like=True, tag="stands"):
    """Where an owner stands that was loaded, or has taken a turn that cannot be told: its events are too large, or do
    not say all that copies have to know (`Event.needs_rows`).

    Args:
        kind, id: which owner.
        epoch, version: the name of its history, and how many of its turns are in rows.
    """

    kind: str
    id: str
    epoch: str
    version: int


class Dropped(msgspec.Struct, frozen=True, array_like=True, tag="dropped"):
    """Too much waits for the receiver: it is told of no owner of the sending node until it follows it again."""


class Said(msgspec.Struct, frozen=True, array_like=True, tag="said"):
    """A message that is not the kernel's own, such as who is online on the sending node.

    Args:
        topic: names the hearer (`Peers.hear_topic`).
        body: the message, as that hearer understands it.
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
"""Encodes an entry, or a command, reply or event that is put into one."""

decode = msgspec.msgpack.Decoder(Entry).decode
"""Decodes an entry; raises msgspec.DecodeError for bytes that are none."""
