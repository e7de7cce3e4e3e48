"""Where a request comes from, behind proxies that are trusted and only behind those (contract §2, client
address).

A forwarded header is a claim by whoever sent it, so it counts only when the TCP peer is a trusted proxy, and
then
only as far as trusted proxies vouch for it: the right-most hop that is not itself one of them.
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
"""What a peer without an address (a Unix socket) is called."""

MAX_HOPS = 32
"""More hops than any chain of proxies has; what lies beyond is not read."""

MAX_HOP_CHARACTERS = 64
"""More than an address has, its zone and a port."""

_WITH_PORT = re.compile(r"(?:\[([^\[\]]+)\]|([0-9.]+)):[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class Proxies:
    """Whose word is taken for where a request came from.

    Args:
        trusted: the networks of the proxies, empty for none.
        header: the header that they set to the client's address, in lower case; where it is missing, or None,
            X-Forwarded-For counts.
    """

    trusted: tuple[Network, ...]
    header: bytes | None = None

    def client(self, peer: str, headers: Sequence[tuple[bytes, bytes]]) -> str:
        """The client's address, normalised.

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
    """Networks from addresses and CIDR notation.

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
    """The address of a hop, with the port that some gateways write behind it (RFC 7239 §6) or without."""
    if len(hop) > MAX_HOP_CHARACTERS:
        return None  # nor is it remembered
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
    """The address in its canonical form, IPv4 in IPv6 unwrapped; `unknown` when there is none."""
    address = _parsed(peer)
    return UNKNOWN if address is None else str(address)


def is_loopback(client: str) -> bool:
    """Whether it is this machine.

    Args:
        client: as `Proxies.client` gave it.
    """
    address = _parsed(client)
    return address is not None and address.is_loopback


@lru_cache(maxsize=4096)
def rate_key(client: str) -> str:
    """What limits count an address by: IPv4 as it is, IPv6 by its /64, which one household has (contract §2).

    Args:
        client: as `Proxies.client` gave it.
    """
    address = _parsed(client)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, 64), strict=False))
    return client
