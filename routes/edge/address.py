"""The address of a request's client, as told by trusted reverse proxies (contract §2, client address).

Any client can send a forwarded header, so it is read only when the TCP peer is a trusted proxy. It is read from right
to left, and the client is the first address that is not itself a trusted proxy.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

UNKNOWN = "unknown"
"""The address of a peer that has none (a Unix socket)."""

MAX_HOPS = 32
"""Hops of a forwarded header that are read, from the right; no real chain of proxies is as long."""

MAX_HOP_CHARACTERS = 64
"""A longer hop is not parsed; an address with its zone and a port is shorter."""

_WITH_PORT = re.compile(r"(?:\[([^\[\]]+)\]|([0-9.]+)):[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class Proxies:
    """The trusted proxies, and the header in which they name the client.

    Args:
        trusted: the networks of the proxies, empty for none.
        header: the header that they set to the client's address, in lower case; where it is missing, or None,
            X-Forwarded-For counts.
    """

    trusted: tuple[Network, ...]
    header: bytes | None = None

    def client(self, peer: str, headers: Sequence[tuple[bytes, bytes]]) -> str:
        """The client's address, normalised; the peer's own where the peer is not a trusted proxy.

        A hop that is not an address ends the search: the last address before it is returned.

        Args:
            peer: the address at the other end of the connection.
            headers: (lower-case name, value).
        """
        if not self.trusted:
            return normal(peer)
        nearest = _parsed(peer)
        if nearest is None or not self._trusts(nearest):
            return normal(peer)
        own = self.header is not None and any(known == self.header for known, _ in headers)
        name = self.header if own else b"x-forwarded-for"
        claims = b",".join(text for known, text in headers if known == name)
        for hop in reversed(claims.rsplit(b",", MAX_HOPS)[-MAX_HOPS:]):
            address = _address_in(hop.decode("latin-1").strip())
            if address is None:
                break
            nearest = address
            if not self._trusts(address):
                break
        return str(nearest)

    def trusts(self, peer: str) -> bool:
        """Whether a peer is one of the proxies.

        Args:
            peer: the address at the other end of a connection.
        """
        address = _parsed(peer)
        return address is not None and self._trusts(address)

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self.trusted)


def parse_networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Parse IP addresses and CIDR networks.

    Raises:
        ValueError: one of them is neither; the text names it.
    """
    networks = []
    for text in texts:
        try:
            networks.append(ip_network(text))
        except ValueError as error:
            raise ValueError(f"{text} is neither an address nor a network ({error})") from None
    return tuple(networks)


def _address_in(hop: str) -> Address | None:
    """The address in a hop, which may be followed by a port as some gateways write it (RFC 7239 §6); None if
    malformed.
    """
    if len(hop) > MAX_HOP_CHARACTERS:
        return None  # before the cache of `_parsed`, which it must not fill
    form = _WITH_PORT.fullmatch(hop)
    return _parsed(hop if form is None else form[1] or form[2])


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Address | None:
    try:
        address = ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


@lru_cache(maxsize=4096)
def normal(peer: str) -> str:
    """The address in its canonical form, IPv4 in IPv6 unwrapped; `unknown` when it cannot be parsed."""
    address = _parsed(peer)
    return UNKNOWN if address is None else str(address)


def is_loopback(client: str) -> bool:
    """Whether the client runs on this machine.

    Args:
        client: the address, from `Proxies.client`.
    """
    address = _parsed(client)
    return address is not None and address.is_loopback


@lru_cache(maxsize=4096)
def rate_key(client: str) -> str:
    """The key under which limits count an address: IPv4 whole, IPv6 by its /64, which one household has (contract
    §2).

    Args:
        client: the address, from `Proxies.client`.
    """
    address = _parsed(client)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, 64), strict=False))
    return client
