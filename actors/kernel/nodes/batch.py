"""A batch: what one node sends another in one message, sealed with the key that all nodes share.

The bus is not trusted. A batch that was not sealed with our key, or is of another form, is no batch.
"""

from hashlib import blake2b
from hmac import compare_digest

import msgspec

FORM = 1
"""The version of the sealed form. Nodes of two releases in a row understand each other's."""

SEAL_BYTES = 16
"""Length of the BLAKE2b digest that seals a batch: 128 bits are too many to be guessed."""

HELD_BYTES = 2_047
"""Most bytes hashed at once: for more, hashlib releases the interpreter's lock, and a busy thread keeps it for
milliseconds."""


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """An entry, or a part of one that is large.

    Args:
        body: the encoded entry, or this part of it.
        kept: always True: the form has had this place since it was made, and releases in a row share the form.
        first: no part of its entry comes before it.
        last: no part of its entry follows.
    """

    body: bytes
    kept: bool
    first: bool
    last: bool


class Batch(msgspec.Struct, frozen=True, array_like=True):
    """Pieces with their place in the link from one node to another.

    Args:
        sender: the name of the node that sends.
        life: the number of the sender's life.
        to_life: the number of the receiver's life, as far as the sender knows.
        number: the batch's number, which counts from 1 for each pair of lives.
        acknowledged: the sender has received this many pieces of the receiver, without a gap.
        again: the sender misses some of the pieces after those.
        floor: the number of the oldest piece that the sender still has; those before it are acknowledged or given up.
        first_kept: the number of the first piece in this batch; without pieces, of the piece that is sent next.
        pieces: the pieces, in order.
    """

    sender: str
    life: int
    to_life: int
    number: int
    acknowledged: int
    again: bool
    floor: int
    first_kept: int
    pieces: tuple[Piece, ...]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Batch).decode


def seal(key: bytes, batch: Batch) -> bytes:
    """The bytes that go over the bus: a keyed BLAKE2b (RFC 7693) of the rest, the form, the batch.

    Args:
        key: 32 secret bytes, the same on all nodes.
    """
    body = bytes((FORM,)) + _encode(batch)
    return _seal_of(key, body) + body


def unseal(key: bytes, data: bytes) -> Batch | None:
    """The batch that was sealed with this key; None when the message is no such batch.

    Args:
        key: the key that `seal` was given.
        data: a message as it came over the bus.
    """
    given, body = data[:SEAL_BYTES], data[SEAL_BYTES:]
    if not compare_digest(given, _seal_of(key, body)) or body[:1] != bytes((FORM,)):
        return None
    try:
        return _decode(memoryview(body)[1:])
    except msgspec.DecodeError:
        return None


def _seal_of(key: bytes, body: bytes) -> bytes:
    seal = blake2b(digest_size=SEAL_BYTES, key=key)
    for start in range(0, len(body), HELD_BYTES):
        seal.update(body[start : start + HELD_BYTES])
    return seal.digest()
