"""Where a redirect of another server may lead (ASVS 1.3.6): to hosts of a list, by https, at public addresses.

A name is resolved once, all of its addresses are checked, and the connection is made to a checked address, with the
name in the TLS handshake and in `Host`. So a name that means something else a moment later leads nowhere else.
"""

import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import TypeAlias
from urllib.parse import urljoin, urlsplit

import trio

from routes.edge.address import parse_networks
from routes.edge.identity.outbound import trusted_authorities

MAX_REDIRECTS = 2
"""Most redirects of one request."""

MAX_CHARACTERS = 2048
"""Most characters of the URL that a redirect names."""

Resolve: TypeAlias = Callable[[str], Awaitable[list[str]]]
"""`async host -> its addresses`; raises OSError when it has none."""

_HTTPS_PORT = 443
_UNICAST = IPv6Network("2000::/3")
_SPECIAL = parse_networks(
    ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
"""Those of IANA's special-purpose addresses that embed other addresses, or that some Python versions call global."""


class RedirectRefused(Exception):
    """A redirect leads where it may not. The message is always the same."""


async def addresses_of(host: str) -> list[str]:
    """The IP addresses of a host, as the system resolves its name. Cancellation abandons the lookup."""
    found = await trio.socket.getaddrinfo(host, _HTTPS_PORT, type=trio.socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def is_public(text: str) -> bool:
    """Whether an IP address is one of the public Internet: not loopback, private, link-local, multicast or for
    documentation, nor an IPv4 address embedded in IPv6.

    Args:
        text: an IP address; anything else is not public.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if not address.is_global or any(address in network for network in _SPECIAL):
        return False
    return not address.is_multicast if isinstance(address, IPv4Address) else address in _UNICAST


@dataclass(frozen=True, slots=True)
class Hop:
    """The target of the next request.

    Args:
        url: the URL that the redirect names.
        connect_url: the same URL with a checked IP address in place of the host's name.
        host: the host's name.
    """

    url: str
    connect_url: str
    host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirects:
    """Where redirects of one server may lead.

    Args:
        hosts: names of the allowed hosts, in lower case.
        resolve: finds the IP addresses of a name.
        is_allowed: whether an IP address may be connected to.
        tls: the TLS settings, with the trusted authorities.
        port: the port of https, the only one that is allowed.
    """

    hosts: frozenset[str]
    resolve: Resolve = addresses_of
    is_allowed: Callable[[str], bool] = is_public
    tls: ssl.SSLContext = field(default_factory=trusted_authorities)
    port: int = _HTTPS_PORT

    async def hop(self, url: str, location: str | None) -> Hop:
        """Check a redirect, and resolve its host. Cancellation abandons the lookup of the host's addresses.

        Args:
            url: the URL that was requested.
            location: the Location header of the answer, or None.

        Raises:
            RedirectRefused: the redirect leads where it may not.
        """
        target = _target(url, location or "")
        host, rest = self._checked(target)
        try:
            addresses = await self.resolve(host)
        except OSError:
            raise _refused() from None
        if not addresses or not all(map(self.is_allowed, addresses)):
            raise _refused()
        # IPv4 first: a machine without IPv6 may still resolve it.
        address = sorted(addresses, key=lambda one: ":" in one)[0]
        literal = f"[{address}]" if ":" in address else address
        return Hop(target, f"https://{literal}:{self.port}{rest}", host)

    def _checked(self, target: str) -> tuple[str, str]:
        """(host, path and query) of a URL, if redirects may lead there; raises RedirectRefused otherwise."""
        try:
            parts = urlsplit(target)
            host, port = (parts.hostname or "").lower(), parts.port
        except ValueError:
            raise _refused() from None
        if parts.scheme != "https" or "@" in parts.netloc:
            raise _refused()
        if host not in self.hosts or port not in {None, self.port}:
            raise _refused()
        return host, f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"


def _target(url: str, location: str) -> str:
    if len(location) > MAX_CHARACTERS or not location.isascii() or not location.isprintable():
        raise _refused()
    if " " in location or "\\" in location:
        raise _refused()
    try:
        return urljoin(url, location)
    except ValueError:
        raise _refused() from None


def _refused() -> RedirectRefused:
    return RedirectRefused("a redirect leads somewhere else than it may")
