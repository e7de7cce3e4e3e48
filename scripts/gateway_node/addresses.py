"""Which addresses a gateway may connect to: owners of game servers choose their backends, so an address may be
anything."""

import socket
from ipaddress import ip_address

import msgspec

from routes.edge.address import Network, parse_networks
from routes.edge.outgoing_redirects import is_public
from scripts.gateway_node.proxy_protocol import Place

PRIVATE = parse_networks(
    ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "fc00::/7", "::1/128")
)
"""The networks that `--allow-private` allows where it names none: those of homes and companies, and this machine."""

NEVER = parse_networks(
    (
        "169.254.0.0/16",  # link-local, with the metadata of most clouds
        "fe80::/10",
        "100.100.100.200/32",  # metadata of Alibaba, Azure, Oracle, and Amazon by IPv6
        "168.63.129.16/32",
        "192.0.0.192/32",
        "fd00:ec2::254/128",
        "0.0.0.0/8",
        "::/128",
        "::ffff:0:0/96",  # IPv4 in IPv6
        "224.0.0.0/4",
        "ff00::/8",
        "240.0.0.0/4",
    )
)
"""Networks that no option allows."""


class Permission(msgspec.Struct, frozen=True):
    """The addresses at which backends may be.

    Args:
        allowed: networks that are allowed beside the Internet.
        refused: networks that are out of bounds all the same, such as that of a load balancer in front of the gateway.
        own: (IP address, port) of the gateway's listeners and of its public address, which are refused.
        port: the port of a listener at every address of this machine; None where there is none.
    """

    allowed: tuple[Network, ...] = ()
    refused: tuple[Network, ...] = ()
    own: frozenset[Place] = frozenset()
    port: int | None = None

    def refusal(self, address: str, port: int) -> str | None:
        """Why a backend may not be at this address, in a word; None where it may.

        Args:
            address: the very IP address that is then connected to, not a name.
        """
        one = ip_address(address)
        if any(one in network for network in NEVER):
            return "forbidden"
        if (address, port) in self.own or (port == self.port and is_here(address)):
            return "the gateway itself"
        if any(one in network for network in self.refused):
            return "refused"
        if not is_public(address) and not any(one in network for network in self.allowed):
            return "private"
        return None


def is_here(address: str) -> bool:
    """Whether an IP address is one of this machine's."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        try:
            one.bind((address, 0))
        except OSError:
            return False
    return True
