"""Which hosts an allowlist may name. Pure."""

from collections.abc import Collection, Iterable, Sequence
from urllib.parse import urlsplit

from actors.errors import Invalid
from actors.field_errors import FieldError
from actors.hostnames import is_address, is_public_suffix, normal_host

HOSTS_MAX = 500
"""The most hosts that an allowlist may have."""

_ANY = "*."


def checked(hosts: Sequence[str], pointer: str) -> list[str]:
    """The hosts in their normal form, sorted, each once.

    Args:
        hosts: names of hosts; `*.` in front means all names below.
        pointer: the JSON pointer to the array in the body (RFC 6901).

    Raises:
        Invalid: there are too many; or one is an address, a public suffix, or no name, such as one with a port.
    """
    if len(hosts) > HOSTS_MAX:
        raise Invalid(FieldError(pointer, "TOO_MANY", f"at most {HOSTS_MAX} hosts"))
    return sorted({_checked(host, f"{pointer}/{index}") for index, host in enumerate(hosts)})


def told(put: Collection[str], addresses: Iterable[str], names: Iterable[str]) -> list[str]:
    """The hosts that launchers are told, sorted: those of the allowlist, and those that no list may leave out, because
    a launcher could otherwise not fetch its own update.

    Args:
        put: the hosts of the allowlist, in their normal form.
        addresses: URLs of the service and of what it works with; a host may be an IP address.
        names: further hosts that are always told.
    """
    own = (urlsplit(address).hostname for address in addresses)
    return sorted({*put, *(host for host in own if host is not None), *names})


def _checked(host: str, pointer: str) -> str:
    below = host.startswith(_ANY)
    bare = host.removeprefix(_ANY)
    if is_address(bare.strip("[]")):
        raise Invalid(FieldError(pointer, "NOT_ALLOWED", "an address is no name"))
    name = normal_host(bare)
    if name is None:
        raise Invalid(
            FieldError(pointer, "BAD_FORMAT", "a host's name without port, with *. in front at most")
        )
    if is_public_suffix(name):
        raise Invalid(FieldError(pointer, "NOT_ALLOWED", "unrelated parties have names below this one"))
    return f"{_ANY}{name}" if below else name
