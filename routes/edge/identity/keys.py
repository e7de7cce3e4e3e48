"""The service's own keys: the Ed25519 key that signs its tokens, the one that signs what clients are offered, and the
secret from which all others are derived.

They are files below `<shared dir>/keys`, created at the first start, readable by their owner only, and never replaced.
A file is written whole under a temporary name and then linked to its own, so that of two processes that start
together one creates it and the other reads it.
"""

import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

import jwt
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from actors.ids import RandomBytes, new_uuid
from routes.edge.faults import OperatorFault
from routes.edge.identity.base64url import to_base64url
from routes.edge.identity.issuer_settings import OWN_ISSUER

SIGNING_FILE = "signing.pem"
"""PKCS#8 PEM of the Ed25519 key (RFC 8410)."""

MASTER_FILE = "master.key"
"""32 random bytes."""

RELEASES_FILE = "releases.key"
"""32 random bytes: the seed of the Ed25519 key whose public half clients keep (RFC 8032 §5.1.5)."""

SECRET_BYTES = 32

USER_AUDIENCE = "partyline:user"
"""`aud` of user tokens made here; a token with another one, signed by the same key, is not a user token."""

USER_TYPE = "JWT"
"""`typ` of user tokens; every other kind of token has its own (RFC 8725 §3.11)."""

ALGORITHM = "EdDSA"


class KeyFault(OperatorFault):
    """A key file cannot be created or read; the message is one line for the operator."""


@dataclass(frozen=True, slots=True)
class MintedToken:
    """A signed token.

    Args:
        token: JWS compact serialisation.
        expires_at_ms: when it expires, epoch milliseconds.
    """

    token: str
    expires_at_ms: int


@dataclass(frozen=True, slots=True)
class SessionClaims:
    """What a user token says of the session that it belongs to.

    Args:
        sid: the session's id; the token ends with it.
        capped: whether the session began with an issuer that may not vouch for super-admins.
    """

    sid: str
    capped: bool


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of this installation.

    Args:
        private_key: signs tokens.
        master: 32 secret bytes, used only to derive others.
        releases: the seed of the key that signs what clients are offered; None in a folder that was made before there
            was such a file.
        sealing_key: 32 bytes that encrypt stored replies that hold a secret.
        key_id: RFC 7638 thumbprint of the public key, the `kid` of tokens made here.
    """

    private_key: Ed25519PrivateKey = field(repr=False)
    master: bytes = field(repr=False)
    releases: bytes | None = field(default=None, repr=False)
    sealing_key: bytes = field(init=False, repr=False)
    key_id: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sealing_key", self.derive("idempotent replies"))
        raw = self.public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)
        # RFC 8037 §2 and RFC 7638 §3: the required members, sorted, without white space.
        thumbprint = f'{{"crv":"Ed25519","kty":"OKP","x":"{to_base64url(raw)}"}}'
        object.__setattr__(self, "key_id", to_base64url(sha256(thumbprint.encode()).digest()))

    @property
    def public_key(self) -> Ed25519PublicKey:
        """The key that verifies tokens made here."""
        return self.private_key.public_key()

    @property
    def master_name(self) -> str:
        """A name that tells this master key from others and reveals nothing of it."""
        return sha256(self.derive("name of the master key")).hexdigest()[:16]

    def derive(self, purpose: str) -> bytes:
        """32 secret bytes for one purpose (HKDF-SHA256, RFC 5869); those of other purposes are unrelated."""
        return HKDF(hashes.SHA256(), 32, salt=None, info=f"partyline {purpose}".encode()).derive(self.master)

    def has_signed(self, token: str) -> bool:
        """Whether a token bears the signature of this key.

        It is signed once more and compared: the same bytes have one Ed25519 signature (RFC 8032 §5.1.6), and making it
        takes a third of what verifying it takes, which whoever restarts a server pays for all of its users at once.

        Args:
            token: JWS compact serialisation, of well-formed parts.
        """
        signed, _, signature = token.encode().rpartition(b".")
        return compare_digest(to_base64url(self.private_key.sign(signed)).encode(), signature)

    def mint_user_token(
        self,
        user_id: str,
        name: str,
        *,
        now_ms: int,
        ttl_seconds: int,
        random_bytes: RandomBytes,
        not_before_s: int = 0,
        session: SessionClaims | None = None,
    ) -> MintedToken:
        """Sign a user token.

        Args:
            user_id: lower-case uuid, the `sub`.
            name: the user's name, 1 to 64 characters.
            now_ms: epoch milliseconds; the token's times are whole seconds.
            ttl_seconds: lifetime, at least 1.
            random_bytes: source of its `jti`.
            not_before_s: earliest `iat` that is accepted for the user, epoch seconds. In the second in which their
                tokens were revoked, a new one is dated into the next (see `actors/users/units_revocation.py`).
            session: what a token says of the session that it belongs to; None for a token of its own.
        """
        now_ms = max(now_ms, not_before_s * 1000)
        claims: dict[str, object] = {"sub": user_id, "name": name, "jti": new_uuid(random_bytes)}
        if session is not None:
            claims["sid"] = session.sid
            if session.capped:
                claims["capped"] = True
        return self.mint(USER_TYPE, USER_AUDIENCE, claims, now_ms=now_ms, ttl_seconds=ttl_seconds)

    def mint(
        self, type: str, audience: str, claims: Mapping[str, object], *, now_ms: int, ttl_seconds: int
    ) -> MintedToken:
        """Sign a token of any kind.

        Args:
            type: the `typ` header; each kind of token has its own, so that none passes for another.
            audience: the `aud` claim; each kind of token has its own, too.
            claims: the claims beside issuer, audience and times.
            now_ms: epoch milliseconds; the token's times are whole seconds.
            ttl_seconds: lifetime, at least 1.
        """
        issued_at_s = now_ms // 1000
        times = {"iat": issued_at_s, "exp": issued_at_s + ttl_seconds}
        token = jwt.encode(
            {"iss": OWN_ISSUER, "aud": audience, **claims, **times},
            self.private_key,
            algorithm=ALGORITHM,
            headers={"typ": type, "kid": self.key_id},
        )
        return MintedToken(token, (issued_at_s + ttl_seconds) * 1000)


def open_keys(shared_dir: Path) -> Keys:
    """Read the keys below `shared_dir`, creating those that are missing.

    Args:
        shared_dir: `PARTYLINE_SHARED_DIR`; created, private, when it does not exist.

    Raises:
        KeyFault: a file cannot be created or read, is malformed, or was lost.
    """
    folder = shared_dir / "keys"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The signing key is made before the master key, so a master key without it means that it was lost.
        if (folder / MASTER_FILE).exists() and not (folder / SIGNING_FILE).exists():
            raise KeyFault(
                f"{folder / SIGNING_FILE} is gone, and {MASTER_FILE} is there: put it back from a backup, or end every"
                " token by another one (openssl genpkey -algorithm ed25519)"
            )
        pem = _read_or_make(folder / SIGNING_FILE, _new_signing_key)
        # Made before the master key, so that a master key without it is from a release that had no such key.
        if not (folder / MASTER_FILE).exists():
            _read_or_make(folder / RELEASES_FILE, _new_secret)
        master = _read_or_make(folder / MASTER_FILE, _new_secret)
        releases = (folder / RELEASES_FILE).read_bytes() if (folder / RELEASES_FILE).exists() else None
    except OSError as error:
        raise KeyFault(f"the keys in {folder} cannot be used: {error.strerror or error}") from error
    try:
        private_key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError) as error:
        raise KeyFault(f"{folder / SIGNING_FILE} is not an unencrypted PEM private key") from error
    if not isinstance(private_key, Ed25519PrivateKey):
        raise KeyFault(f"{folder / SIGNING_FILE} is not an Ed25519 key")
    for name, secret in ((MASTER_FILE, master), (RELEASES_FILE, releases)):
        if secret is not None and len(secret) != SECRET_BYTES:
            raise KeyFault(f"{folder / name} does not have {SECRET_BYTES} bytes")
    return Keys(private_key, master, releases)


def has_master(shared_dir: Path) -> bool:
    """Whether there is a master key, which is the last that `open_keys` makes.

    Args:
        shared_dir: `PARTYLINE_SHARED_DIR`; it need not exist.
    """
    return (shared_dir / "keys" / MASTER_FILE).exists()


def _new_secret() -> bytes:
    return secrets.token_bytes(SECRET_BYTES)


def _new_signing_key() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _read_or_make(path: Path, make: Callable[[], bytes]) -> bytes:
    if not path.exists():
        # A half-written key must never appear under the final name, and an existing key must never be replaced: link
        # fails where rename would overwrite.
        draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(make())
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):  # another process was first, and its key is used
                os.link(draft, path)
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        finally:
            draft.unlink(missing_ok=True)
    return path.read_bytes()
