"""Addresses to listen on or to connect to, as they are written in settings: `host:port`, or `fd://number`."""

import re
from typing import NamedTuple

_DESCRIPTOR = re.compile(r"fd://([0-9]{1,7})", re.ASCII)
_HOST_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+):([0-9]{1,5})", re.ASCII)


class Bind(NamedTuple):
    """An address to listen on, or to connect to.

    Args:
        host: name, IPv4 address, or IPv6 address without brackets.
        port: 0 to 65,535; 0 lets the system choose.
    """

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Descriptor(NamedTuple):
    """A listening socket that the parent process has handed down.

    Args:
        number: the file descriptor's number.
    """

    number: int


def host_port(value: str) -> Bind:
    """Parse `host:port`, IPv6 in brackets.

    Raises:
        ValueError: the text has another form, or the port is above 65,535.
    """
    form = _HOST_PORT.fullmatch(value.strip())
    if form is None or int(form[2]) > 65_535:
        raise ValueError("is not host:port")
    return Bind(form[1].strip("[]"), int(form[2]))


def binds(value: str) -> tuple[Bind | Descriptor, ...]:
    """Parse one or more `host:port` or `fd://number`, separated by commas."""
    return tuple(_bind(part.strip()) for part in value.split(","))


def address_of(bind: Bind, scheme: str = "http") -> str:
    """The web address under which a bound address is reached from the same machine.

    Args:
        scheme: `http` or `https`.
    """
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bind.host, bind.host)  # noqa: S104 - compared, not bound
    return f"{scheme}://{Bind(host, bind.port)}"


def _bind(value: str) -> Bind | Descriptor:
    form = _DESCRIPTOR.fullmatch(value)
    return host_port(value) if form is None else Descriptor(int(form[1]))
