"""The forms that settings come in: text to value, each with the rest of a sentence when it does not fit."""

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from routes.edge.address import Network, parse_networks
from routes.edge.identity.issuer_settings import IssuerSettings, parse_issuers

_HEADER = re.compile(r"[A-Za-z0-9-]+", re.ASCII)
_HOST_NAME = re.compile(
    r"(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*", re.ASCII
)
_HOST_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+):([0-9]{1,5})", re.ASCII)


class Bind(NamedTuple):
    """One address.

    Args:
        host: name, IPv4 address, or IPv6 address without brackets.
        port: 0 to 65,535; 0 lets the system choose.
    """

    host: str
    port: int


def text(value: str) -> str:
    """Any text."""
    return value


def switch(value: str) -> bool:
    """`on` or `off`; `1`, `true`, `0` and `false` too.

    Raises:
        ValueError: it is something else.
    """
    flag = {"on": True, "1": True, "true": True, "off": False, "0": False, "false": False}.get(value.lower())
    if flag is None:
        raise ValueError("is neither on nor off")
    return flag


def whole(least: int, most: int) -> Callable[[str], int]:
    """A whole number within bounds, both included.

    Args:
        least: the smallest that is taken.
        most: the largest that is taken.
    """

    def parse(value: str) -> int:
        if not value.isascii() or not value.isdigit() or len(value) > 18 or not least <= int(value) <= most:
            raise ValueError(f"is not a whole number from {least} to {most}")
        return int(value)

    return parse


def one_of(*words: str) -> Callable[[str], str]:
    """One of a few words."""

    def parse(value: str) -> str:
        if value.lower() not in words:
            raise ValueError(f"is none of {', '.join(words)}")
        return value.lower()

    return parse


def host_name(value: str) -> str:
    """The name of a host, or an IPv4 address; in lower case, without a dot at the end.

    Raises:
        ValueError: it is none.
    """
    name = value.strip().lower().removesuffix(".")
    if _HOST_NAME.fullmatch(name) is None:
        raise ValueError("is not the name of a host")
    return name


def host_port(value: str) -> Bind:
    """`host:port`, IPv6 in brackets.

    Raises:
        ValueError: the host or the port is none.
    """
    form = _HOST_PORT.fullmatch(value.strip())
    if form is None or int(form[2]) > 65_535:
        raise ValueError("is not host:port")
    return Bind(form[1].strip("[]"), int(form[2]))


def binds(value: str) -> tuple[Bind, ...]:
    """One or more `host:port`, separated by commas."""
    return tuple(host_port(part) for part in value.split(","))


def address_of(bind: Bind) -> str:
    """The address under which a bind is reached from the same machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bind.host, bind.host)  # noqa: S104 - compared, not bound
    return f"http://[{host}]:{bind.port}" if ":" in host else f"http://{host}:{bind.port}"


def web_address(value: str) -> str:
    """An http or https address, without a slash at its end.

    Raises:
        ValueError: it is something else.
    """
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("is not an http or https address")
    return value.rstrip("/")


def database_url(value: str) -> str:
    """PostgreSQL's address.

    Raises:
        ValueError: it has another scheme.
    """
    if not value.startswith(("postgresql://", "postgres://")):
        raise ValueError("is not a postgresql:// address")
    return value


def header_name(value: str) -> bytes:
    """The name of a header, in lower case.

    Raises:
        ValueError: RFC 9110 allows no such name.
    """
    if _HEADER.fullmatch(value) is None:
        raise ValueError("is not the name of a header")
    return value.lower().encode("ascii")


def networks(value: str) -> tuple[Network, ...]:
    """Addresses and CIDR networks, separated by commas."""
    return parse_networks(_parts(value))


def origins(value: str) -> tuple[str, ...]:
    """Origins as browsers send them, separated by commas, or `*`.

    Raises:
        ValueError: one is not an origin.
    """
    parts = tuple(part.lower() for part in _parts(value))
    for part in parts:
        split = urlsplit(part)
        whole_origin = f"{split.scheme}://{split.netloc}"
        if part != "*" and (
            split.scheme not in {"http", "https"} or part != whole_origin or not split.netloc
        ):
            raise ValueError(f"{part} is not an origin such as https://example.org")
    return parts


def issuers(value: str) -> tuple[IssuerSettings, ...]:
    """Issuers of user tokens, as a JSON array."""
    return parse_issuers(value)


def _parts(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]
