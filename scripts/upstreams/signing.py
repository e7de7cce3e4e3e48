"""How webhooks are signed: as Stripe does, and as Standard Webhooks 1.0.0 says."""

import base64
import hmac


def stripe_signature(secret: str, body: bytes, at_s: int) -> str:
    """The value of `Stripe-Signature`.

    Args:
        secret: the whole text, `whsec_` included.
        at_s: epoch seconds.
    """
    return f"t={at_s},v1={hmac.digest(secret.encode(), b'%d.%b' % (at_s, body), 'sha256').hex()}"


def standard_headers(secret: str, id: str, body: bytes, at_s: int) -> dict[str, str]:
    """The three headers of Standard Webhooks.

    Args:
        secret: `whsec_` and the key in base64.
        id: the event's id.
        at_s: epoch seconds.
    """
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = base64.b64encode(hmac.digest(key, f"{id}.{at_s}.".encode() + body, "sha256")).decode()
    return {"webhook-id": id, "webhook-timestamp": str(at_s), "webhook-signature": f"v1,{signed}"}
