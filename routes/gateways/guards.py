"""Guards of gateways, which authenticate by the deployment token once, and then by a secret of their own."""

from hmac import compare_digest

from actors.connect.claim_keys import digest
from actors.errors import Forbidden, NotFound
from actors.ids import ObjectId
from persistence.gateways.gateways import GatewayRow
from routes.call import Call
from routes.edge.errors import BadServerCredentials
from routes.edge.identity.credentials import server_bearer
from routes.edge.pipeline.guessing import count_guess, refuse_guessing
from routes.gateways.parts import GATEWAY_REGISTRY

_NO_SECRET = bytes(32)


def gateway_itself(call: Call, gateway_id: ObjectId) -> GatewayRow:
    """Guard: requires the secret of the gateway that X-Gateway-Id names, and that it is the one in the path.

    Raises:
        BadServerCredentials: there is no such gateway, or it has another secret; counted by address.
        RateLimited: too many wrong secrets have come from the address.
        NotFound: the gateway in the path is another one.
    """
    refuse_guessing(call)
    try:
        row = _verified(call)
    except BadServerCredentials:
        count_guess(call)
        raise
    if row.gateway_id != gateway_id:
        raise NotFound
    return row


def require_deployment_token(call: Call, token: str) -> None:
    """Require the deployment token.

    Raises:
        Forbidden: the service has no deployment token, so that no gateway may register.
        RateLimited: too many wrong tokens have come from the address.
        BadServerCredentials: the token is a different one; counted by address.
    """
    known = call.service.config.gateway_token
    if known is None:
        raise Forbidden("this service takes no gateways: it has no deployment token")
    refuse_guessing(call)
    if not compare_digest(digest(token), digest(known)):
        count_guess(call)
        raise BadServerCredentials


def _verified(call: Call) -> GatewayRow:
    secret, named = server_bearer(call.header(b"authorization"), call.header(b"x-gateway-id"))
    row = call.service.of(GATEWAY_REGISTRY).row(named.lower())
    right = compare_digest(digest(secret), _NO_SECRET if row is None else row.secret)
    if row is None or not right:
        raise BadServerCredentials
    return row
