"""What tests of scripts share."""


def server_frame(payload: bytes, head: int = 0x81) -> bytes:
    size = len(payload)
    if size < 126:
        return bytes((head, size)) + payload
    if size < 65536:
        return bytes((head, 126)) + size.to_bytes(2, "big") + payload
    return bytes((head, 127)) + size.to_bytes(8, "big") + payload
