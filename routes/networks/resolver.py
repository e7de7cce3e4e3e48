"""DNS lookups with dnspython on trio: one resolver, no search domains, three seconds (contract §7).

`nameserver.py` bounds the size of answers, and parses them.
"""

from collections.abc import Sequence

import dns.asyncbackend
import dns.asyncresolver
import dns.exception
import dns.name
import dns.resolver
import structlog
import trio
from dns.rdata import Rdata
from dns.rdtypes.ANY.TXT import TXT
from dns.rdtypes.IN.A import A

from actors.hostnames import is_address
from actors.networks.units_claims import Lookup
from routes.edge.binds import Bind
from routes.networks.nameserver import AnswerTooLarge, BoundedNameserver

log = structlog.get_logger()

SECONDS = 3.0
"""Deadline of a lookup, retries included."""

ATTEMPT_SECONDS = 1.2
"""Deadline of one attempt, so that there is time to repeat a lost datagram."""

READ_AT_ONCE = 1
"""Most answers parsed at the same time, so that they take one core at most from everything else."""

MAX_ADDRESSES = 8
"""Most addresses of one host that are used."""

NO_SUCH_NAME, NO_RECORD, TIMEOUT, SERVER_FAILURE, TOO_LARGE = (
    "NO_SUCH_NAME",
    "NO_RECORD",
    "TIMEOUT",
    "SERVER_FAILURE",
    "TOO_LARGE",
)
"""Why a lookup has no result."""


class Resolver:
    """Looks names up at one DNS server, or as the system is configured.

    Args:
        server: the DNS server's address and port; None reads the system's configuration at the first lookup.
    """

    def __init__(self, server: Bind | None) -> None:
        self._server = server
        self._backend = dns.asyncbackend.get_backend("trio")
        self._reading = trio.CapacityLimiter(READ_AT_ONCE)
        self._resolver: dns.asyncresolver.Resolver | None = None

    async def txt(self, name: str) -> Lookup:
        """The TXT records at a name, sorted, or the reason why there are none; failures are not raised.

        Args:
            name: the name in A-labels, without a trailing dot.
        """
        found, error = await self._ask(name, "TXT")
        texts = [b"".join(record.strings) for record in found if isinstance(record, TXT)]
        return Lookup(sorted(text.decode("utf-8", "replace") for text in texts), error)

    async def addresses(self, host: str) -> list[str] | None:
        """The IPv4 addresses of a host, sorted; empty if it has none that can be used, None if the lookup failed.

        Args:
            host: a name, or an IPv4 address, which is returned itself; an IPv6 address has no IPv4 addresses.
        """
        if is_address(host):
            return [host] if "." in host else []
        found, error = await self._ask(host, "A")
        if error in {TIMEOUT, SERVER_FAILURE}:
            return None
        return sorted({record.address for record in found if isinstance(record, A)})[:MAX_ADDRESSES]

    async def _ask(self, name: str, kind: str) -> tuple[Sequence[Rdata], str | None]:
        try:
            with trio.fail_after(SECONDS):
                resolver = await self._opened()
                asked = dns.name.from_text(f"{name}.")
                answer = await resolver.resolve(
                    asked, kind, search=False, lifetime=SECONDS, backend=self._backend
                )
        except dns.resolver.NXDOMAIN:
            return (), NO_SUCH_NAME
        except dns.resolver.NoAnswer:
            return (), NO_RECORD
        except (trio.TooSlowError, dns.exception.Timeout):
            return (), TIMEOUT
        except (dns.exception.DNSException, OSError, EOFError) as error:
            log.info("a name cannot be looked up", name=name, type=kind, error=type(error).__name__)
            return (), TOO_LARGE if _is_too_large(error) else SERVER_FAILURE
        return tuple(answer), None

    async def _opened(self) -> dns.asyncresolver.Resolver:
        if self._resolver is None:
            resolver = dns.asyncresolver.Resolver(configure=self._server is None)
            servers = [(str(found), resolver.port) for found in resolver.nameservers]
            if self._server is not None:
                servers = [await _address(self._server)]
            resolver.nameservers = [BoundedNameserver(*server, self._reading) for server in servers]
            resolver.timeout = ATTEMPT_SECONDS
            resolver.use_edns(0, 0, 1232)  # below the MTU of every path, so that answers are not fragmented
            self._resolver = resolver
        return self._resolver


def _is_too_large(error: Exception) -> bool:
    """Whether a lookup failed because the servers' answers were too large."""
    tried = error.kwargs["errors"] if isinstance(error, dns.resolver.NoNameservers) else ()
    return any(isinstance(reason, AnswerTooLarge) for _, _, _, reason, _ in tried)


async def _address(server: Bind) -> tuple[str, int]:
    if is_address(server.host):
        return server.host, server.port
    found = await trio.socket.getaddrinfo(server.host, server.port)
    return str(found[0][4][0]), server.port
