"""`partyline health`: asks a running server on this machine whether it is ready, for container engines and scripts."""

from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from routes.cli.faults import CommandFault
from routes.config.config import Config
from routes.edge.binds import Bind, address_of

WAIT_SECONDS = 5.0

TOO_MANY_REQUESTS = 429


def ask_ready(config: Config) -> str:
    """Ask `/ready` at the first address of `PARTYLINE_BIND`, and return what to print.

    A server that answers 429 is well: others at this machine's address ask it too often. Were that an error, a load
    test of `/health`, or a proxy that is not in `PARTYLINE_TRUSTED_PROXIES`, would have the container ended.

    Args:
        config: the server's configuration.

    Raises:
        CommandFault: there is no such address, or the server is not ready or does not answer within `WAIT_SECONDS`.
    """
    addresses = [address_of(one) for one in config.bind if isinstance(one, Bind)]
    if not addresses:
        raise CommandFault("PARTYLINE_BIND names no address to ask")
    address = f"{addresses[0]}/ready"
    connection = HTTPConnection(urlsplit(address).netloc, timeout=WAIT_SECONDS)
    try:
        connection.request("GET", "/ready")
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        raise CommandFault(f"{address} does not answer: {error}") from error
    finally:
        connection.close()
    if status == TOO_MANY_REQUESTS:
        return "answers, but not whether it is ready, as this machine asks it too often"
    if status != 200:
        raise CommandFault(f"{address} answered {status}")
    return "ready"
