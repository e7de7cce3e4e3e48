"""What every route asks before it looks at the request's content, in the order of contract §1.

Declared size (413), credentials (401), rate (429), permission node (403), membership (404 for a stranger).
Requests and streams pass the same gate; a stream passes it before its upgrade, so that refusals are plain
HTTP.
"""

from dataclasses import dataclass
from types import CoroutineType

from routes.edge.address import rate_key
from routes.edge.call import Call
from routes.edge.credentials import (
    Authenticator,
    ServerAuthenticator,
    bearer,
    check_origin,
    protocol_bearer,
    query_token,
    refuse_query_token,
    server_bearer,
)
from routes.edge.endpoint import Route
from routes.edge.errors import BadServerCredentials, RateLimited, TokenExpired, Unauthenticated
from routes.edge.incoming import Incoming
from routes.edge.limits import POLICIES, Limits
from routes.edge.principal import PUBLIC, SERVER, Needs, Principal, ServerPrincipal, admit


@dataclass(frozen=True, slots=True)
class Gate:
    """Passes callers, or refuses them.

    Args:
        authenticator: verifies the tokens of users.
        server_authenticator: verifies the credentials of game servers.
        limits: counts requests.
        origins: from which browser pages may open WebSockets, `*` for any.
        allow_query_tokens: whether a token in the address counts (`PARTYLINE_ALLOW_QUERY_TOKENS`).
    """

    authenticator: Authenticator
    server_authenticator: ServerAuthenticator
    limits: Limits
    origins: tuple[str, ...]
    allow_query_tokens: bool

    async def pass_request(self, call: Call, route: Route, incoming: Incoming) -> dict[str, object]:
        """Every check of a request up to membership; fills in the call's principal, decision and subject.

        Waits for nothing when the token is known and the guard has its answer in memory.

        Args:
            call: of this request.
            route: as declared.
            incoming: what came in.

        Returns:
            The path's parameters, {snake_case name: normalised text}.

        Raises:
            Refused: the first check that said no.
        """
        in_query = self._query_token(route, incoming)
        if _of_server(route, incoming):
            await self._authenticate_server(call, incoming)
        elif route.needs is not PUBLIC:
            carried = incoming.header(b"authorization")
            if carried is not None:
                call.principal = self.authenticator.known(carried, call.now_ms)
            if call.principal is None:
                await self._authenticate(call, bearer(carried) or in_query)
        return await self._pass(call, route, incoming)

    async def pass_stream(
        self, call: Call, route: Route, incoming: Incoming
    ) -> tuple[dict[str, object], str | None]:
        """As `pass_request`, with the two things that only WebSockets have: Origin, and a token as
        subprotocol.

        Returns:
            The path's parameters, and the subprotocol to select, if any.
        """
        check_origin(incoming.header(b"origin"), incoming.header(b"host"), self.origins)
        if _of_server(route, incoming):
            refuse_query_token(incoming.query)
            await self._authenticate_server(call, incoming)
            return await self._pass(call, route, incoming), None
        in_query = self._query_token(route, incoming)
        offered = incoming.header(b"sec-websocket-protocol") or b""
        entries = [entry.strip() for entry in offered.decode("latin-1").split(",") if entry.strip()]
        offered_token, selected = protocol_bearer(entries)
        token = bearer(incoming.header(b"authorization"))
        if token is not None and offered_token is not None and token != offered_token:
            raise Unauthenticated
        if route.needs is not PUBLIC:
            await self._authenticate(call, token or offered_token or in_query)
        return await self._pass(call, route, incoming), selected

    def _query_token(self, route: Route, incoming: Incoming) -> str | None:
        if not route.refuse_query_tokens:
            return None
        if self.allow_query_tokens:
            return query_token(incoming.query)
        refuse_query_token(incoming.query)
        return None

    async def _authenticate(self, call: Call, token: str | None) -> None:
        if token is None:
            raise Unauthenticated
        call.deadline.begin()
        call.principal = await self.authenticator.user(token)

    async def _authenticate_server(self, call: Call, incoming: Incoming) -> None:
        carried, server_id = incoming.header(b"authorization"), incoming.header(b"x-server-id")
        principal = None
        if carried is not None and server_id is not None:
            principal = self.server_authenticator.known(carried, server_id, call.now_ms)
        if principal is None:
            credentials = server_bearer(carried, server_id)
            call.deadline.begin()
            principal = await self._verified(call, *credentials)
        call.principal = principal
        self.server_authenticator.called(principal, call.client_address, call.now_ms)

    async def _verified(self, call: Call, token: str, server_id: str) -> ServerPrincipal:
        """The server of a credential that is not remembered; an address that was wrong too often waits."""
        policy, address = POLICIES["bad-credentials"], rate_key(call.client_address)
        refusal = self.limits.refusal(policy, address, call.now_ms)
        if refusal is not None:
            call.decision = refusal
            raise RateLimited(refusal.retry_after_ms)
        try:
            return await self.server_authenticator.server(token, server_id)
        except (BadServerCredentials, TokenExpired):
            self.limits.take(policy, address, call.now_ms)
            raise

    async def _pass(self, call: Call, route: Route, incoming: Incoming) -> dict[str, object]:
        values: dict[str, object] = {}
        malformed = None
        for parameter in route.parameters:
            value = values[parameter.name] = parameter.parse(incoming.parameters[parameter.wire])
            if value is None and malformed is None:
                malformed = parameter
        if self.limits.enabled:
            self._count(call, route, values)
        admit(_needed(route, call.principal), call.principal)
        if malformed is not None:
            raise malformed.not_found
        if route.guard is not None:
            subject = route.guard(call, **{name: values[name] for name in route.guard_takes})
            if isinstance(subject, CoroutineType):
                call.deadline.begin()
                subject = await subject
            call.subject = subject
        return values

    def _count(self, call: Call, route: Route, values: dict[str, object]) -> None:
        principal = call.principal
        if principal is None or route.rate.by_address:
            caller, access = rate_key(call.client_address), None
        else:
            caller, access = principal.key, principal.access
        suffix = "" if route.rate_key is None else str(values[route.rate_key] or "")
        by_server = (
            route.shared and isinstance(principal, ServerPrincipal) and route.rate.name.startswith("user-")
        )
        rate = POLICIES["server"] if by_server else route.rate
        call.decision = self.limits.take_for(rate, caller, call.now_ms, suffix=suffix, access=access)
        if not call.decision.allowed:
            raise RateLimited(call.decision.retry_after_ms)


def _of_server(route: Route, incoming: Incoming) -> bool:
    """Whether a game server's credentials are asked for: on routes that users share, X-Server-Id says so."""
    if route.shared:
        return incoming.header(b"x-server-id") is not None
    return route.needs is SERVER


def _needed(route: Route, principal: Principal | None) -> Needs:
    """What this caller has to hold."""
    if route.servers is not None and isinstance(principal, ServerPrincipal):
        return route.servers
    return route.needs
