"""Signatures of webhooks, over the raw bytes of the body. Pure.

There are two families. If `Stripe-Signature` is present, it alone decides; else the three headers of Standard Webhooks
1.0.0 do:

| | Stripe | Standard Webhooks |
|---|---|---|
| header | `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=<hex>]` | `webhook-signature: v1,<base64>[ v1,<base64>]` |
| signed | `<seconds>.<body>` | `<id>.<seconds>.<body>` |
| key | the whole text of the secret | the base64 that follows `whsec_` |
| skipped | other schemes than `v1` | other versions than `v1`, such as `v1a` |

Both are HMAC-SHA256, and hold for five minutes in both directions. While a secret is exchanged, both the old and the
new one are configured, and a sender may sign with both.
"""

import base64
import binascii
import hmac
import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from routes.edge.faults import OperatorFault
from routes.edge.outgoing import Headers

TOLERANCE_SECONDS = 300
"""How far the time of a signature may lie from now, in both directions."""

SECRETS_MAX = 5
"""How many secrets there are at most: the whole body is hashed with each of them."""

HEADER_MAX_BYTES = 4096
"""Longest value of a header that is read."""

SIGNATURES_MAX = 16
"""Most signatures in one header; one with more is refused."""

Family: TypeAlias = Literal["stripe", "standard"]

_STRIPE = b"stripe-signature"
_STANDARD = (b"webhook-id", b"webhook-timestamp", b"webhook-signature")

_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)
# Visible characters but `.`, which separates the id from the time in the signed text.
_ID = re.compile(r"[!-\-/-~]{1,255}", re.ASCII)
_HEX = re.compile(r"[0-9a-f]{64}", re.ASCII)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{43}=", re.ASCII)
_KEY_BYTES = range(24, 65)


class Secrets(msgspec.Struct, frozen=True):
    """The secrets of webhooks, as the keys that each family derives from them; `repr` does not show them.

    Args:
        stripe, standard: one key for each secret.
    """

    stripe: tuple[bytes, ...]
    standard: tuple[bytes, ...]

    def __repr__(self) -> str:
        return f"<{len(self.stripe)} secrets>"


class Signed(msgspec.Struct, frozen=True):
    """Says who signed an authentic webhook.

    Args:
        id: `webhook-id`; None with Stripe, whose id stands in the body.
    """

    family: Family
    id: str | None


def parse_secrets(text: str | None) -> Secrets:
    """The secrets in a setting, separated by commas; if there are none, no webhook is authentic.

    Raises:
        OperatorFault: there are too many.
    """
    secrets = [part.strip() for part in (text or "").split(",") if part.strip()]
    if len(secrets) > SECRETS_MAX:
        raise OperatorFault(f"PARTYLINE_SHOP_WEBHOOK_SECRET has more than {SECRETS_MAX} secrets")
    return Secrets(
        tuple(secret.encode() for secret in secrets), tuple(_standard_key(secret) for secret in secrets)
    )


def says_signed(headers: Headers, secrets: Secrets) -> bool:
    """Whether a webhook has the headers of a family, and a secret is known: whose has not, its body need not be read.

    Args:
        headers: all of the request, (lower-case name, value).
    """
    names = {name for name, _ in headers}
    return bool(secrets.standard) and (_STRIPE in names or names.issuperset(_STANDARD))


def verify(headers: Headers, body: bytes, secrets: Secrets, now_s: int) -> Signed | None:
    """Who signed a webhook; None if no known secret signed it, or its time is more than five minutes off.

    Args:
        headers: all headers of the request, as (lower-case name, value).
        body: as received.
        secrets: the secrets of which one must have signed it.
        now_s: epoch seconds.
    """
    if any(name == _STRIPE for name, _ in headers):
        value = _only(headers, _STRIPE)
        return (
            Signed("stripe", None)
            if value is not None and _stripe(value, body, secrets.stripe, now_s)
            else None
        )
    id, at, signatures = (_only(headers, name) for name in _STANDARD)
    if (
        id is None
        or at is None
        or signatures is None
        or _ID.fullmatch(id) is None
        or not _is_recent(at, now_s)
    ):
        return None
    signed = b"%b.%b.%b" % (id.encode(), at.encode(), body)
    given = [part.partition(",") for part in _parts(signatures, " ")]
    codes = [
        base64.b64decode(code) for version, _, code in given if version == "v1" and _BASE64.fullmatch(code)
    ]
    return Signed("standard", id) if _matches(codes, signed, secrets.standard) else None


def _stripe(value: str, body: bytes, keys: Sequence[bytes], now_s: int) -> bool:
    items = [part.partition("=") for part in _parts(value, ",")]
    times = [text for name, _, text in items if name == "t"]
    if len(times) != 1 or not _is_recent(times[0], now_s):
        return False
    codes = [bytes.fromhex(text) for name, _, text in items if name == "v1" and _HEX.fullmatch(text)]
    return _matches(codes, b"%b.%b" % (times[0].encode(), body), keys)


def _matches(codes: Sequence[bytes], signed: bytes, keys: Sequence[bytes]) -> bool:
    """Whether any code is right for any of the keys; all are compared, each in constant time."""
    if not codes:
        return False
    wanted = [hmac.digest(key, signed, "sha256") for key in keys]
    return any([hmac.compare_digest(code, one) for one in wanted for code in codes])  # noqa: C419 (all of them)


def _is_recent(seconds: str, now_s: int) -> bool:
    return _SECONDS.fullmatch(seconds) is not None and abs(int(seconds) - now_s) <= TOLERANCE_SECONDS


def _parts(value: str, separator: str) -> list[str]:
    """The parts of a header; none if there are too many, so that the whole header is rejected."""
    parts = value.split(separator, SIGNATURES_MAX)
    return parts if len(parts) <= SIGNATURES_MAX else []


def _only(headers: Headers, name: bytes) -> str | None:
    """The value of a header, if it is there exactly once, is not too long, and is ASCII; else None."""
    values = [value for known, value in headers if known == name]
    if len(values) != 1 or len(values[0]) > HEADER_MAX_BYTES or not values[0].isascii():
        return None
    return values[0].decode("ascii")


def _standard_key(secret: str) -> bytes:
    """The key of a secret: base64 of 24 to 64 bytes, padded or not; any other text counts as its UTF-8 bytes."""
    text = secret.removeprefix("whsec_")
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return secret.encode()
    return key if len(key) in _KEY_BYTES else secret.encode()
