"""Networks for tests, made over the wire, and the DNS and Cloudflare that the service asks."""

from typing import Any

from tests.connect.play import GameServer, claimed
from tests.networks.cloudflare import CloudflareStub
from tests.networks.dns_server import DnsServer
from tests.support.world import Player, World

NETWORKS = "/v1/connect/networks"


class Net:
    """A network, and its owner.

    Args:
        owner: the user who makes its requests.
        made: the answer to making it.
    """

    def __init__(self, owner: Player, made: dict[str, Any]) -> None:
        self.owner = owner
        self.id: str = made["networkId"]
        self.path = f"{NETWORKS}/{self.id}"
        self.domains = f"{self.path}/domains"
        self.provider = f"{self.path}/dns/cloudflare"

    async def token(self) -> str:
        """Make a join token; returns it."""
        made = await self.owner.do("POST", f"{self.path}/join-token", status=201)
        return str(made["joinToken"])

    async def host(self, name: str = "Node") -> GameServer:
        """Make a game server that joins the network."""
        world = self.owner.world
        body = {"joinToken": await self.token(), "name": name}
        joined = await world.nobody().do("POST", f"{NETWORKS}/join", body, status=201)
        made = {**joined, "serverName": name, "claimKey": ""}
        return GameServer(world, made)

    async def server(self, name: str = "Lobby") -> GameServer:
        """Make a game server that is claimed and in the network."""
        server = await claimed(self.owner.world, self.owner, name)
        await self.owner.do("PATCH", server.path, {"networkId": self.id}, status=200)
        return server

    async def claim(self, domain: str) -> Any:
        """Claim a domain; returns the answer."""
        return await self.owner.do("POST", self.domains, {"domain": domain}, status=201)

    def verify(self, claim: Any) -> str:
        """The path at which a claim is verified."""
        return f"{self.domains}/{claim['domain']['id']}/verify"


class Place:
    """A service, and the DNS and Cloudflare that it asks."""

    def __init__(self, world: World, dns: DnsServer, cloudflare: CloudflareStub) -> None:
        self.world = world
        self.dns = dns
        self.cloudflare = cloudflare

    async def verified(self, net: Net, domain: str) -> Any:
        """Claim a domain, and verify the claim; returns it."""
        claim = await net.claim(domain)
        self.dns.txt.setdefault(claim["txt"]["name"], []).append(claim["txt"]["value"])
        return await net.owner.do("POST", net.verify(claim), status=200)


async def network(owner: Player, name: str = "Sky") -> Net:
    """Make a network of a user."""
    made = await owner.do("POST", NETWORKS, {"name": name}, status=201)
    return Net(owner, made["network"])
