"""The setting `PARTYLINE_JWT_ISSUERS`: other issuers of user tokens, and its checks.

A module of its own, because what fetches keys and verifies takes long to import, and is needed here only for an entry
with a public key.
"""

import re
from urllib.parse import urlsplit

import msgspec

from routes.edge.identity.names import NAME_MAX

OWN_ISSUER = "partyline"
"""`iss` of the tokens made here. A constant, because tokens have to outlive a change of the service's address."""

SECRET_MIN_BYTES = 32
"""An HS256 key is at least as long as its hash (RFC 7518 §3.2): a shorter one could be guessed offline from a token."""

ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
"""The algorithms that verify by a public key."""

_SAME = {"Ed25519": "EdDSA"}
"""{fully specified name (RFC 9864 §2.2): the name here}, as Ed25519 is the one curve that is accepted with EdDSA."""

_SUBJECTS = re.compile(r"[0-9a-f-]{0,36}")
_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")
_UNSAFE = re.compile(r"[^\x21-\x7e]")
_HERE = frozenset({"127.0.0.1", "::1", "localhost"})


class IssuerSettings(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One entry of `PARTYLINE_JWT_ISSUERS` (contract §11), with exactly one of `secret`, `public_key` and `jwks_url`.

    Args:
        iss: the issuer's name, which a token's `iss` has to equal.
        alg: the signature algorithm: `HS256`, or one of RSA, EC or Ed25519 (`EdDSA`, which `Ed25519` is read as).
        aud: if given, the token's `aud` must equal or contain it.
        secret: the key for HS256, at least 32 bytes.
        public_key: the public key as PEM.
        jwks_url: the address at which the public keys are published.
        subjects: the `sub` of every token has to begin with it, lower case; empty for any user.
        super_admins: whether super-admins keep that role with a token of this issuer. If not, it admits them without
            the role, and without grants of patterns that begin with `*`.
        name: the label of the button for signing in with this issuer, which also needs `client_id` and `discovery_url`.
            Bearer tokens of such an issuer are accepted only where `aud` is given, too.
        client_id: the client id of this service at the issuer.
        client_secret: the secret that belongs to it, where the issuer gave one.
        discovery_url: the address of the issuer's OpenID Provider Configuration.
    """

    iss: str
    alg: str
    aud: str | None = None
    secret: str | None = None
    public_key: str | None = None
    jwks_url: str | None = None
    subjects: str = ""
    super_admins: bool = False
    name: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    discovery_url: str | None = None

    @property
    def slug(self) -> str:
        """The issuer's name in URLs: the letters and digits of its `name`, in lower case, with dashes between them;
        empty without a `name`."""
        return _NOT_IN_SLUG.sub("-", (self.name or "").lower()).strip("-")


def known_as(algorithm: str) -> str:
    """The name that an algorithm has here, where it has two; others stay as they are, known or not.

    Args:
        algorithm: as a setting, a token's header or a published key names it.
    """
    return _SAME.get(algorithm, algorithm)


def parse_issuers(text: str) -> tuple[IssuerSettings, ...]:
    """Parse the setting, and check everything that needs no network.

    Args:
        text: a JSON array; empty for none.

    Raises:
        ValueError: the setting is wrong; the message says how in one line, and never holds a secret.
    """
    if not text.strip():
        return ()
    try:
        entries = msgspec.json.decode(text, type=tuple[IssuerSettings, ...])
    except msgspec.DecodeError as error:
        raise ValueError(
            f"is no JSON array of {{iss,aud?,alg,secret|publicKey|jwksUrl,subjects?,superAdmins?,name?,clientId?,"
            f"clientSecret?,discoveryUrl?}}: {error}"
        ) from None
    entries = tuple(msgspec.structs.replace(entry, alg=known_as(entry.alg)) for entry in entries)
    for entry in entries:
        _check(entry)
        _check_sign_in(entry)
    slugs = [entry.slug for entry in entries if entry.name is not None]
    if len(set(slugs)) < len(slugs):
        raise ValueError("two issuers have the same name, or names that differ in signs only")
    return entries


def _check(entry: IssuerSettings) -> None:
    if not entry.iss or entry.iss == OWN_ISSUER:
        raise ValueError(f"iss may not be empty or {OWN_ISSUER!r}")
    if not _SUBJECTS.fullmatch(entry.subjects):
        raise ValueError(f"issuer {entry.iss}: subjects is not the beginning of a lower-case uuid")
    ways = [way for way in (entry.secret, entry.public_key, entry.jwks_url) if way is not None]
    if len(ways) != 1:
        raise ValueError(f"issuer {entry.iss}: wants exactly one of secret, publicKey, jwksUrl")
    if entry.alg == "HS256":
        if entry.secret is None:
            raise ValueError(f"issuer {entry.iss}: HS256 wants a secret")
        if len(entry.secret.encode()) < SECRET_MIN_BYTES:
            raise ValueError(f"issuer {entry.iss}: the secret wants at least {SECRET_MIN_BYTES} bytes")
    elif entry.alg not in ALGORITHMS:
        raise ValueError(f"issuer {entry.iss}: alg is none of HS256, {', '.join(ALGORITHMS)}")
    elif entry.secret is not None:
        raise ValueError(f"issuer {entry.iss}: {entry.alg} wants publicKey or jwksUrl, not a secret")
    elif entry.public_key is not None:
        from routes.edge.identity.public_keys import pem_key  # noqa: PLC0415 — slow to import

        pem_key(entry.iss, entry.alg, entry.public_key)
    elif urlsplit(entry.jwks_url or "").scheme not in {"http", "https"}:
        raise ValueError(f"issuer {entry.iss}: jwksUrl is not an http(s) address")


def _check_sign_in(entry: IssuerSettings) -> None:
    """Check what an entry says of signing in with its issuer."""
    wanted = (entry.name, entry.client_id, entry.discovery_url)
    if wanted == (None, None, None) and entry.client_secret is None:
        return
    if not all(wanted) or entry.client_secret == "":
        raise ValueError(f"issuer {entry.iss}: signing in wants name, clientId and discoveryUrl")
    if not entry.slug or len(entry.name or "") > NAME_MAX:
        raise ValueError(
            f"issuer {entry.iss}: name wants letters or digits, and at most {NAME_MAX} characters"
        )
    if not is_confidential(entry.discovery_url or ""):
        raise ValueError(f"issuer {entry.iss}: discoveryUrl is not an https address")


def is_confidential(url: str) -> bool:
    """Whether an address may be sent secrets: https, or http on this machine.

    Args:
        url: any text; what is no such address is not confidential.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if _UNSAFE.search(url) is not None:
        return False
    return bool(parts.hostname) and (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _HERE)
    )
