"""What tests of server share."""

MASK = b"\x00\x00\x00\x00"


def client_frame(opcode: int, payload: bytes = b"", *, fin: bool = True) -> bytes:
    """A masked frame of at most 125 bytes."""
    return bytes((opcode | (0x80 if fin else 0), 0x80 | len(payload))) + MASK + payload
