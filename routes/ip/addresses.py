"""The caller's IP address, and the location of addresses (service-api §4 IP, contract §2 Client address)."""

from actors.errors import GeoipUnavailable, NotFound
from actors.ip.addresses import public_address
from routes.call import Call
from routes.connect.guards import require_secret
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import bad_parameter
from routes.edge.principal import PUBLIC, ServerPrincipal
from routes.edge.reply import Page
from routes.edge.wire import Wire
from routes.ip.parts import PLACES

GEO = "ip:geo.read"


class GeoQuery(Wire, frozen=True):
    """The address to locate.

    Args:
        ip: a public IPv4 or IPv6 address; by default the caller's own.
    """

    ip: str | None = None


class GeoIp(Wire, frozen=True):
    """The location of an address; null for what the database does not have.

    Args:
        ip: the address in canonical form, IPv4 in IPv6 unwrapped.
        country: English name; so are region, city and continent.
        country_iso: two letters, ISO 3166-1.
        region: the region's name; null if unknown.
        city: the city's name; null if unknown.
        zip: postal code.
        timezone: name in the IANA database.
        continent: the continent's name; null if unknown.
        lat: degrees, as `lon`; the middle of the area, not a house.
        lon: degrees east; null if unknown.
    """

    ip: str
    country: str | None
    country_iso: str | None
    region: str | None
    city: str | None
    zip: str | None
    timezone: str | None
    continent: str | None
    lat: float | None
    lon: float | None


@endpoint("GET", "/v1/ip", needs=PUBLIC, produces="text/plain")
def read_own_address(call: Call) -> Page:
    """Answers the caller's address as plain text. Behind trusted proxies it is that of the client; forwarding headers
    of other senders are ignored.
    """
    return Page(call.client_address.encode(), content_type="text/plain; charset=utf-8")


@endpoint("GET", "/v1/ip/geo", needs=GEO, servers=GEO, refusals=(NotFound, GeoipUnavailable))
def locate_address(call: Call, query: GeoQuery) -> GeoIp:
    """Answers the location of an address: `ip`, by default the caller's own.

    Needs `ip:geo.read`; a game server needs an owner who holds it, and its own secret. An `ip` that is private,
    reserved or not an address is a 400; one that the database does not have is a 404. Without a
    database: 503 `GEOIP_UNAVAILABLE`.
    """
    if isinstance(call.principal, ServerPrincipal):
        require_secret(call.principal)
    address = call.client_address if query.ip is None else public_address(query.ip)
    if address is None:
        raise bad_parameter("ip", "is not a public address")
    place = call.service.of(PLACES).find(address)
    if place is None:
        raise NotFound("nothing is known of this address")
    return GeoIp(
        address,
        place.country,
        place.country_iso,
        place.region,
        place.city,
        place.zip,
        place.timezone,
        place.continent,
        place.lat,
        place.lon,
    )
