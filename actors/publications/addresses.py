"""Addresses that players type: `host` or `host:port`, in one form. Pure."""

import re
from ipaddress import ip_address

import msgspec

from actors.networks.hostnames import inside, is_address, normal_host

MAX_CHARACTERS = 255
"""Characters of an address."""

INTERNAL = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa")
"""Names that mean something else in every network, and what is below them."""

_FORM = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:/?#@\\\s]+))(?::([1-9][0-9]{0,4}))?", re.IGNORECASE)


class Address(msgspec.Struct, frozen=True):
    """Where a server is reached.

    Args:
        text: as it is shown.
        host: a name or an address, in its one form.
    """

    text: str
    host: str


def parse_address(text: str) -> Address | None:
    """The address in its one form; None when it is none: no scheme, no path, no user.

    Args:
        text: `host` or `host:port`; an IPv6 address in brackets.
    """
    found = _FORM.fullmatch(text.strip()) if len(text) <= 4 * MAX_CHARACTERS else None
    if found is None:
        return None
    bracketed, plain, port = found.groups()
    if port is not None and int(port) > 65_535:
        return None
    if bracketed is not None:
        host = str(ip_address(bracketed)) if is_address(bracketed) else None
    else:
        host = plain if is_address(plain) else normal_host(plain)
    if host is None:
        return None
    shown = f"[{host}]" if ":" in host else host
    return Address(shown if port is None else f"{shown}:{port}", host)


def is_internal(host: str) -> bool:
    """Whether a host means nothing, or something else, to those who are not in our network."""
    if is_address(host):
        address = ip_address(host)
        address = getattr(address, "ipv4_mapped", None) or address
        return not address.is_global or address.is_multicast
    return "." not in host or any(inside(host, name) for name in INTERNAL)
