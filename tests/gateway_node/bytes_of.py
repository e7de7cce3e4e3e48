"""What clients send, made by hand."""

import ssl


def varint(value: int) -> bytes:
    """A VarInt."""
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*made, value))


def handshake(host: str, state: int = 1, *, protocol: int = 767, more: bytes = b"") -> bytes:
    """A handshake of 1.7 or later.

    Args:
        more: at the end of the packet.
    """
    name = host.encode()
    packet = (
        b"\0"
        + varint(protocol)
        + varint(len(name))
        + name
        + (25565).to_bytes(2, "big")
        + varint(state)
        + more
    )
    return varint(len(packet)) + packet


def legacy_ping(host: str) -> bytes:
    """A ping of 1.6."""
    channel, name = "MC|PingHost".encode("utf-16-be"), host.encode("utf-16-be")
    message = bytes((78,)) + len(host).to_bytes(2, "big") + name + (25565).to_bytes(4, "big")
    return b"\xfe\x01\xfa\0\x0b" + channel + len(message).to_bytes(2, "big") + message


def client_hello(host: str | None) -> bytes:
    """The first message of OpenSSL's client."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    read, written = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(read, written, server_hostname=host)
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        return written.read()
    raise AssertionError("a handshake without another side")


def records(hello: bytes, size: int) -> bytes:
    """The same message in records of at most so many bytes."""
    message = hello[5:]
    pieces = [message[at : at + size] for at in range(0, len(message), size)]
    return b"".join(hello[:3] + len(piece).to_bytes(2, "big") + piece for piece in pieces)
