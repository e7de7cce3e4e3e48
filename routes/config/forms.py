"""Parsers of settings: text to value. Each raises ValueError with the rest of a sentence that begins with the name."""

import binascii
import re
from base64 import b64decode
from collections.abc import Callable
from urllib.parse import SplitResult, urlsplit

import msgspec

from routes.edge.address import Network, parse_networks
from routes.edge.identity.issuer_settings import IssuerSettings, parse_issuers

_HEADER = re.compile(r"[A-Za-z0-9-]+", re.ASCII)
_HOST_NAME = re.compile(
    r"(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*", re.ASCII
)


MAX_KEY_ID_CHARACTERS = 64

_KEY_BYTES = 32


class NamedKey(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """An Ed25519 public key with a name.

    Args:
        key_id: the key's name, 1 to 64 characters.
        public_key: the key's 32 bytes in base64.
    """

    key_id: str
    public_key: str

    @property
    def raw(self) -> bytes:
        """The key's 32 bytes."""
        return b64decode(self.public_key)


def text(value: str) -> str:
    """Any text, unchanged."""
    return value


def api_key(value: str) -> str:
    """Parse a key that is sent in a header, without white space around it.

    Raises:
        ValueError: it has other characters than visible ASCII.
    """
    key = value.strip()
    if not key.isascii() or not key.isprintable() or " " in key or not key:
        raise ValueError("is not a key of visible ASCII characters")
    return key


def switch(value: str) -> bool:
    """Parse `on`, `1`, `true`, `off`, `0` or `false`, in any case.

    Raises:
        ValueError: the text is none of these.
    """
    flag = {"on": True, "1": True, "true": True, "off": False, "0": False, "false": False}.get(value.lower())
    if flag is None:
        raise ValueError("is neither on nor off")
    return flag


def whole(least: int, most: int) -> Callable[[str], int]:
    """A parser of whole numbers from `least` to `most`, both included."""

    def parse(value: str) -> int:
        if not value.isascii() or not value.isdigit() or len(value) > 18 or not least <= int(value) <= most:
            raise ValueError(f"is not a whole number from {least} to {most}")
        return int(value)

    return parse


def one_of(*words: str) -> Callable[[str], str]:
    """A parser of one of these words, which are lower case, in any case."""

    def parse(value: str) -> str:
        if value.lower() not in words:
            raise ValueError(f"is none of {', '.join(words)}")
        return value.lower()

    return parse


def host_name(value: str) -> str:
    """Parse a host name or an IPv4 address, to lower case and without a dot at its end.

    Raises:
        ValueError: the text is neither.
    """
    name = value.strip().lower().removesuffix(".")
    if _HOST_NAME.fullmatch(name) is None:
        raise ValueError("is not the name of a host")
    return name


def web_address(value: str) -> str:
    """Parse an http or https address, and drop slashes at its end.

    Raises:
        ValueError: the text is no such address, has a query or a fragment, or has characters that no header can carry.
    """
    parts = _split(value)
    is_visible = value.isascii() and value.isprintable() and not set(value) & set(" ?#")
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname or not is_visible:
        raise ValueError("is not an http or https address")
    return value.rstrip("/")


def _split(value: str) -> SplitResult | None:
    """The parts of an address; None if it cannot be split, or its port is not valid."""
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError:  # whose text may quote the address, with the password in it
        return None
    return parts


def database_url(value: str) -> str:
    """Parse the address of a PostgreSQL database.

    Raises:
        ValueError: the text begins with neither `postgresql://` nor `postgres://`, or one of its hosts is not valid.
    """
    if not value.startswith(("postgresql://", "postgres://")):
        raise ValueError("is not a postgresql:// address")
    _, _, hosts = re.split("[/?#]", value.partition("://")[2], maxsplit=1)[0].rpartition("@")
    if any(_split(f"postgresql://{host}") is None for host in hosts.split(",")):
        raise ValueError(
            "is not a postgresql:// address: a host has a port that is none, or half of its brackets"
        )
    return value


def nats_urls(value: str) -> tuple[str, ...]:
    """Parse the addresses of NATS servers, separated by commas.

    Raises:
        ValueError: one is neither `nats://` nor `tls://` with a host.
    """
    urls = tuple(url.strip() for url in value.split(",") if url.strip())
    for url in urls:
        parts = _split(url)
        if parts is None or parts.scheme not in {"nats", "tls"} or not parts.hostname:
            raise ValueError("is not a list of nats:// or tls:// addresses")
    if not urls:
        raise ValueError("is not a list of nats:// or tls:// addresses")
    return urls


def is_covered(url: str) -> bool:
    """Whether nobody else can read what goes to a NATS server: over TLS, or within this machine.

    Args:
        url: an address that `nats_urls` returned.
    """
    parts = urlsplit(url)
    return parts.scheme == "tls" or parts.hostname in {"127.0.0.1", "::1", "localhost"}


def header_name(value: str) -> bytes:
    """Parse the name of an HTTP header, to lower case.

    Raises:
        ValueError: it holds other characters than ASCII letters, digits and hyphens.
    """
    if _HEADER.fullmatch(value) is None:
        raise ValueError("is not the name of a header")
    return value.lower().encode("ascii")


def networks(value: str) -> tuple[Network, ...]:
    """Parse IP addresses and CIDR networks, separated by commas."""
    return parse_networks(_parts(value))


def origins(value: str) -> tuple[str, ...]:
    """Parse origins as browsers send them, or `*`, separated by commas.

    Raises:
        ValueError: one of them is no origin of http or https.
    """
    parts = tuple(part.lower() for part in _parts(value))
    for part in parts:
        split = urlsplit(part)
        whole_origin = f"{split.scheme}://{split.netloc}"
        if part != "*" and (
            split.scheme not in {"http", "https"} or part != whole_origin or not split.netloc
        ):
            raise ValueError(f"{part} is not an origin such as https://example.org")
    return parts


def issuers(value: str) -> tuple[IssuerSettings, ...]:
    """Parse a JSON array of issuers of user tokens."""
    return parse_issuers(value)


def public_keys(value: str) -> tuple[NamedKey, ...]:
    """Parse a JSON array of Ed25519 keys, `{keyId,publicKey}`; empty for none.

    Raises:
        ValueError: the text is no such array, a key does not have 32 bytes, or two keys have the same name.
    """
    if not value.strip():
        return ()
    try:
        keys = msgspec.json.decode(value, type=tuple[NamedKey, ...])
    except msgspec.DecodeError as error:
        raise ValueError(f"is no JSON array of {{keyId,publicKey}}: {error}") from None
    for key in keys:
        if not 1 <= len(key.key_id) <= MAX_KEY_ID_CHARACTERS:
            raise ValueError(f"has a keyId that is not 1 to {MAX_KEY_ID_CHARACTERS} characters long")
        try:
            size_bytes = len(b64decode(key.public_key, validate=True))
        except (binascii.Error, ValueError):
            size_bytes = 0
        if size_bytes != _KEY_BYTES:
            raise ValueError(f"key {key.key_id}: publicKey is not 32 bytes in base64")
    if len({key.key_id for key in keys}) != len(keys):
        raise ValueError("names a key twice")
    return keys


def _parts(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]
