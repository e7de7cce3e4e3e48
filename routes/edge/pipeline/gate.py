"""The checks that precede the request's content, in the order of contract §1.

Declared size (413), credentials (401), rate (429), permission node (403), membership (404 for a stranger). Requests
and streams pass the same gate; a stream passes it before its upgrade, so that refusals are plain HTTP.
"""

from collections.abc import Coroutine
from dataclasses import dataclass

from routes.edge import policies
from routes.edge.address import rate_key
from routes.edge.declare.route import Route
from routes.edge.errors import (
    BadServerCredentials,
    OriginRefused,
    RateLimited,
    TokenExpired,
    TokenInQuery,
    Unauthenticated,
)
from routes.edge.identity.credentials import (
    Authenticator,
    ServerAuthenticator,
    as_header,
    bearer,
    check_origin,
    protocol_bearer,
    query_token,
    refuse_query_token,
    server_bearer,
)
from routes.edge.incoming import Incoming
from routes.edge.limits import Limits
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.guessing import count_guess, refuse_guessing
from routes.edge.pipeline.parts import Parts
from routes.edge.policies import Policy
from routes.edge.principal import PUBLIC, SERVER, Needs, Principal, ServerPrincipal, demand

_ASTRAY = (Unauthenticated, TokenInQuery, OriginRefused)
"""Refusals before the caller is known; they are counted by address."""


UNCOUNTED_BYTES = 1024
"""Bytes of each kept answer that do not count in the quota, so that small answers are limited by the rate of requests
alone."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Checks the callers of requests and streams.

    Args:
        authenticator: verifies the tokens of users.
        server_authenticator: verifies the credentials of game servers.
        limits: the rate limits.
        origins: the origins whose pages may open WebSockets, `*` for any.
        allow_query_tokens: whether a token in the address is accepted (`PARTYLINE_ALLOW_QUERY_TOKENS`).
    """

    authenticator: Authenticator
    server_authenticator: ServerAuthenticator
    limits: Limits
    origins: tuple[str, ...]
    allow_query_tokens: bool

    async def pass_request(self, call: Call[Parts], route: Route, incoming: Incoming) -> dict[str, object]:
        """Run every check up to membership; sets the call's principal, decision and subject.

        Waits for nothing when the token was verified before and the guard has its answer in memory. Cancellation
        changes nothing but counts of rate limits, and an account created by a first token.

        Args:
            call: the request's call.
            route: the declared route.
            incoming: the request.

        Returns:
            The path's parameters, {snake_case name: normalised text}.

        Raises:
            Refused: by the first check that fails.
        """
        await self._authenticate_caller(call, route, incoming)
        return await self._pass(call, route, incoming, counted=self.limits.enabled and not call.times_passed)

    async def pass_again(self, call: Call[Parts], route: Route, incoming: Incoming) -> dict[str, object]:
        """Check the caller of a request that the gate let pass as if it came now, but count nothing.

        The end of a token, a right or a membership takes effect at once (contract §2), but a request may have waited
        since its first check: half a minute for its body, or as long for what it asks for. The call gets the present
        time, and a new principal and subject.

        Cancellation, what it returns and what it raises: as for `pass_request`.
        """
        call.now_ms = call.service.clock.now_ms()
        await self._authenticate_caller(call, route, incoming)
        return await self._pass(call, route, incoming, counted=False)

    async def _authenticate_caller(self, call: Call[Parts], route: Route, incoming: Incoming) -> None:
        try:
            in_query = self._query_token(incoming) if route.refuse_query_tokens else None
            if _of_server(route, incoming):
                await self._authenticate_server(call, incoming)
            elif route.needs is not PUBLIC:
                carried = incoming.header(b"authorization")
                # Verified again on each pass, since a token in the address may have ended meanwhile.
                call.principal = None if carried is None else self.authenticator.known(carried, call.now_ms)
                if call.principal is None:
                    await self._authenticate(call, bearer(carried) or in_query)
        except _ASTRAY:
            self.count_astray(call)
            raise

    async def pass_stream(
        self, call: Call[Parts], route: Route, incoming: Incoming
    ) -> tuple[dict[str, object], str | None]:
        """`pass_request` for a WebSocket handshake, which also checks Origin and takes a token as subprotocol.

        Cancellation: see `pass_request`.

        Returns:
            The path's parameters, and the subprotocol to select, if any.

        Raises:
            Refused: by the first check that fails.
        """
        try:
            check_origin(incoming.header(b"origin"), incoming.header(b"host"), self.origins)
            selected = await self._identify(call, route, incoming)
        except _ASTRAY:
            self.count_astray(call)
            raise
        return await self._pass(call, route, incoming, counted=self.limits.enabled), selected

    async def _identify(self, call: Call[Parts], route: Route, incoming: Incoming) -> str | None:
        """Authenticate the caller of a handshake; returns the subprotocol to select."""
        if _of_server(route, incoming):
            refuse_query_token(incoming.query)
            await self._authenticate_server(call, incoming)
            return None
        in_query = self._query_token(incoming) if route.refuse_query_tokens else None
        offered = incoming.header(b"sec-websocket-protocol") or b""
        entries = [entry.strip() for entry in offered.decode("latin-1").split(",") if entry.strip()]
        offered_token, selected = protocol_bearer(entries)
        token = bearer(incoming.header(b"authorization"))
        if token is not None and offered_token is not None and token != offered_token:
            raise Unauthenticated
        token = token or offered_token or in_query
        if route.needs is not PUBLIC:
            if token is not None:
                call.principal = self.authenticator.known(as_header(token), call.now_ms)
            if call.principal is None:
                await self._authenticate(call, token)
        return selected

    def _query_token(self, incoming: Incoming) -> str | None:
        if self.allow_query_tokens:
            return query_token(incoming.query)
        refuse_query_token(incoming.query)
        return None

    async def _authenticate(self, call: Call[Parts], token: str | None) -> None:
        if token is None:
            raise Unauthenticated
        call.deadline.begin()
        refuse_guessing(call)
        try:
            call.principal = await self.authenticator.user(token)
        except TokenExpired:
            raise  # it was valid before, so this is no attempt to guess one
        except Unauthenticated:
            count_guess(call)
            raise

    async def _authenticate_server(self, call: Call[Parts], incoming: Incoming) -> None:
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

    async def _verified(self, call: Call[Parts], token: str, server_id: str) -> ServerPrincipal:
        """Verify a credential that is not remembered, unless its address has failed too often."""
        refuse_guessing(call)
        try:
            return await self.server_authenticator.server(token, server_id)
        except (BadServerCredentials, TokenExpired):
            count_guess(call)
            raise

    def count_astray(self, call: Call[Parts]) -> None:
        """Count a request that matches no route or has no credentials, by its address.

        Raises:
            RateLimited: the address has sent too many of them.
        """
        decision = self.limits.take(policies.ASTRAY, rate_key(call.client_address), call.now_ms)
        if not decision.allowed:
            call.decision = decision
            raise RateLimited(decision.retry_after_ms)

    def check_kept(self, call: Call[Parts]) -> None:
        """Refuse a caller whose answers kept under Idempotency-Keys have used up their quota of bytes.

        How large an answer will be is not known before its effect, so the last one may exceed the quota.

        Raises:
            RateLimited: the quota is used up; the caller may try again once enough of it has come back.
        """
        refusal = self.limits.refusal(policies.KEPT_ANSWERS, _caller(call), call.now_ms)
        if refusal is not None:
            call.decision = refusal
            raise RateLimited(refusal.retry_after_ms)

    def count_kept(self, call: Call[Parts], kept_bytes: int) -> None:
        """Charge the caller for a kept answer's bytes beyond `UNCOUNTED_BYTES`; `kept_bytes` is 0 if none was kept."""
        if kept_bytes > UNCOUNTED_BYTES:
            charged = kept_bytes - UNCOUNTED_BYTES
            self.limits.spend(policies.KEPT_ANSWERS, _caller(call), call.now_ms, charged)

    async def _pass(
        self, call: Call[Parts], route: Route, incoming: Incoming, *, counted: bool
    ) -> dict[str, object]:
        values: dict[str, object] = {}
        malformed = None
        for parameter in route.parameters:
            value = values[parameter.name] = parameter.parse(incoming.parameters[parameter.wire])
            if value is None and malformed is None:
                malformed = parameter
        if counted:
            self._count(call, route, values)
        principal = call.principal
        demand(_needed(route, principal), None if principal is None else principal.access)
        if malformed is not None:
            raise malformed.not_found
        if route.guard is not None:
            subject = route.guard(call, **{name: values[name] for name in route.guard_takes})
            if subject is not None and isinstance(subject, Coroutine):
                call.deadline.begin()
                subject = await subject
            call.subject = subject
        if route.rate_key is not None and (counted or (call.uncounted and self.limits.enabled)):
            self._count_apart(call, route, str(values[route.rate_key]))
            call.uncounted = False
        return values

    def _count(self, call: Call[Parts], route: Route, values: dict[str, object]) -> None:
        principal = call.principal
        if principal is None or route.rate.by_address:
            caller, access = rate_key(call.client_address), None
        else:
            caller, access = principal.key, principal.access
        if route.rate_key is not None:
            self._count_together(call, route, caller, str(values[route.rate_key] or ""))
            return
        rate = route.server_rate if isinstance(principal, ServerPrincipal) else route.rate
        call.decision = self.limits.take_for(rate, caller, call.now_ms, access=access)
        if not call.decision.allowed:
            raise RateLimited(call.decision.retry_after_ms)
        self._count_owner(call, rate)

    def _count_owner(self, call: Call[Parts], rate: Policy) -> None:
        """Count a server's call among those of all servers of its owner.

        Last, so that a server that is refused for its own haste takes nothing from the others.
        """
        principal = call.principal
        if rate.of_owner is None or not isinstance(principal, ServerPrincipal) or principal.owner_id is None:
            return
        decision = self.limits.take(rate.of_owner, f"owner:{principal.owner_id}", call.now_ms)
        if not decision.allowed:
            call.decision = decision
            raise RateLimited(decision.retry_after_ms)

    def _count_together(self, call: Call[Parts], route: Route, caller: str, suffix: str) -> None:
        """Before the guard: count by caller alone, as it is not known yet whether the subject is theirs; see
        `Limits.hold_up`.
        """
        access = None if call.principal is None else call.principal.access
        refusal = self.limits.hold_up(route.rate, caller, call.now_ms, suffix=suffix, access=access)
        if refusal is not None:
            call.decision = refusal
            raise RateLimited(refusal.retry_after_ms)
        self._count_owner(call, route.rate)

    def _count_apart(self, call: Call[Parts], route: Route, suffix: str) -> None:
        """After the guard: count by caller and subject."""
        access = None if call.principal is None else call.principal.access
        call.decision = self.limits.take_for(
            route.rate, _caller(call), call.now_ms, suffix=suffix, access=access
        )
        if not call.decision.allowed:
            raise RateLimited(call.decision.retry_after_ms)


def _of_server(route: Route, incoming: Incoming) -> bool:
    """Whether game servers' credentials are required: on routes that users share, X-Server-Id says so."""
    if route.shared:
        return incoming.header(b"x-server-id") is not None
    return route.needs is SERVER


def _caller(call: Call[Parts]) -> str:
    principal = call.principal
    return rate_key(call.client_address) if principal is None else principal.key


def _needed(route: Route, principal: Principal | None) -> Needs:
    """The rule that applies to this caller."""
    if route.servers is not None and isinstance(principal, ServerPrincipal):
        return route.servers
    return route.needs
