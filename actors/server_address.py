"""Addresses of game servers: `host` or `host:port`, never with a scheme. Pure."""

import re
from ipaddress import ip_address

import msgspec

from actors.hostnames import inside, is_address, normal_host

MAX_PORT = 65_535

DEFAULT_PORT = 25_565
"""The game's own port, which clients use when none is named."""

INTERNAL = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa")
"""Names that resolve differently in each network; names below them are internal, too."""

_FORM = re.compile(
    r"(?:\[([0-9a-f:.]{2,45})\]|([^\[\]:/?#@\\\s]+))(?::([0-9]{1,5}))?", re.ASCII | re.IGNORECASE
)


class Address(msgspec.Struct, frozen=True):
    """Where a server is reached.

    Args:
        host: a name in lower-case A-labels, or an IP address.
        port: the port; None where none was named.
    """

    host: str
    port: int | None

    @property
    def text(self) -> str:
        """The address as it was named, with the port only where one was."""
        return self._with(self.port)

    @property
    def key(self) -> str:
        """The canonical form, equal for all spellings of one server: without the default port."""
        return self._with(None if self.port == DEFAULT_PORT else self.port)

    def _with(self, port: int | None) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if port is None else f"{host}:{port}"


def parse_address(text: str) -> Address | None:
    """Parse an address; None when the text is not one.

    Args:
        text: `host` or `host:port`; an IPv6 address in brackets.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    bracketed, plain, digits = found.groups()
    port = None if digits is None else int(digits)
    if port is not None and not 1 <= port <= MAX_PORT:
        return None
    if is_address(bracketed or plain):
        host = str(ip_address(bracketed or plain))
        return Address(host, port) if (":" in host) == (bracketed is not None) else None
    name = None if plain is None else normal_host(plain)
    return None if name is None else Address(name, port)


def normal_address(text: str) -> str | None:
    """Parse an address and return its canonical form (`Address.key`); None when it is not one, or not in ASCII."""
    address = parse_address(text) if text.isascii() else None
    return None if address is None else address.key


def is_internal(host: str) -> bool:
    """Whether a host cannot be reached from the public Internet, or is another one in each network.

    Args:
        host: the host of an `Address`.
    """
    if is_address(host):
        address = ip_address(host)
        address = getattr(address, "ipv4_mapped", None) or address
        return not address.is_global or address.is_multicast
    return "." not in host or any(inside(host, name) for name in INTERNAL)
