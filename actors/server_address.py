"""Where a game server is: `host` or `host:port`, never with a scheme. Pure."""

import re

MAX_HOST_LENGTH = 253
MAX_PORT = 65_535

DEFAULT_PORT = 25_565
"""The game's own: clients take it when none is named."""

_HOST = r"(?:(?!-)[a-z0-9-]{1,63}(?<!-)\.)*(?!-)[a-z0-9-]{1,63}(?<!-)\.?"
_ADDRESS = re.compile(rf"({_HOST}|\[[0-9a-f:.]{{2,45}}\])(?::(\d{{1,5}}))?", re.ASCII | re.IGNORECASE)


def normal_address(text: str) -> str | None:
    """The address as all who mean the same server write it: lower case, without a last dot or the default port.

    None when it is none.
    """
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return None
    host, port = found[1].lower(), DEFAULT_PORT if found[2] is None else int(found[2])
    if len(host) > MAX_HOST_LENGTH or not 1 <= port <= MAX_PORT:
        return None
    host = host.removesuffix(".")
    return host if port == DEFAULT_PORT else f"{host}:{port}"
