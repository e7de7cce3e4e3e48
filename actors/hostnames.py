"""Normalise host names, and decide which of them may be claimed (contract §7). Pure.

The normal form is lower-case A-labels without a trailing dot (IDNA 2008 after UTS 46), so that two spellings of a
name compare equal. The public suffixes are the list that `publicsuffixlist` ships; nothing is fetched.
"""

import re
from collections.abc import Collection
from functools import cache
from ipaddress import ip_address

import idna
from publicsuffixlist import PublicSuffixList

MAX_CHARACTERS = 248
"""The longest domain that leaves room for `_svc.` in front of it (RFC 1035 §2.3.4)."""

_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)


def normal_host(text: str) -> str | None:
    """The name in its normal form; None when it is not the name of a host.

    IP addresses are refused, and so is what a resolver could take for one (`127.1`, `0x7f.1`), wildcards, and labels
    with an underscore.
    """
    if len(text) > 4 * MAX_CHARACTERS:
        return None
    try:
        name = idna.encode(text, uts46=True, std3_rules=True, transitional=False).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError):
        return None
    name = name.removesuffix(".")
    labels = name.split(".")
    if not name or len(name) > MAX_CHARACTERS or _NUMBER.fullmatch(labels[-1]) is not None:
        return None
    return name


def is_address(text: str) -> bool:
    """Whether this is an IPv4 or IPv6 address, without a zone."""
    try:
        return getattr(ip_address(text), "scope_id", None) is None
    except ValueError:
        return False


def inside(name: str, zone: str) -> bool:
    """Whether `name` is `zone` or lies below it; both in their normal form."""
    return name == zone or name.endswith(f".{zone}")


def is_public_suffix(name: str) -> bool:
    """Whether unrelated parties register names directly below this one, as below `com`, `co.uk` and `github.io`."""
    return _suffixes().privatesuffix(name) is None


def is_ours(name: str, zones: Collection[str]) -> bool:
    """Whether a name is one of our zones, below one, or above one.

    Args:
        name: the name in its normal form.
        zones: the service's own zones, in their normal form.
    """
    return any(inside(name, zone) or inside(zone, name) for zone in zones)


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()
