"""mc-router's routes API: GET and POST /routes, DELETE /routes/{serverAddress}."""

import msgspec

from routes.edge.outgoing_http import OutgoingFault, Upstream
from routes.edge.outgoing_json import NotUnderstood, decoded
from scripts.gateway_node.service import NotCarried

AT_ONCE = 10
"""Most requests at the same time."""

ANSWER_SECONDS = 10.0

MAX_ANSWER_BYTES = 64 * 1024 * 1024


class RoutesApi:
    """The API of an mc-router.

    Args:
        upstream: makes the requests.
    """

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    async def routes(self) -> dict[str, str]:
        """All routes of mc-router, {host: where it leads}.

        Raises:
            NotCarried: mc-router does not answer, or refuses.
        """
        body = await self._ask("GET", ("routes",), {"accept": "application/json"}, None, (200,))
        try:
            return decoded(body, dict[str, str])
        except NotUnderstood:
            raise NotCarried("mc-router has answered something else than its routes") from None

    async def post(self, pair: tuple[str, str]) -> None:
        """Make or change a route.

        Args:
            pair: (host, where it leads).

        Raises:
            NotCarried: mc-router does not do it.
        """
        body = msgspec.json.encode({"serverAddress": pair[0], "backend": pair[1]})
        await self._ask("POST", ("routes",), {"content-type": "application/json"}, body, (200, 201))

    async def delete(self, host: str) -> None:
        """Take a route away, if it is there.

        Raises:
            NotCarried: mc-router does not do it.
        """
        await self._ask("DELETE", ("routes", host), {}, None, (200, 204, 404))

    async def _ask(
        self,
        method: str,
        path: tuple[str, ...],
        headers: dict[str, str],
        body: bytes | None,
        good: tuple[int, ...],
    ) -> bytes:
        try:
            answer = await self._upstream.ask(method, path, headers=headers, body=body)
        except OutgoingFault:
            raise NotCarried("mc-router does not answer") from None
        if answer.status not in good:
            raise NotCarried(f"mc-router answers {answer.status}")
        return answer.body


def api_at(url: str) -> Upstream:
    """The API of an mc-router, to be opened.

    Args:
        url: the address of the API, without a slash at its end.
    """
    return Upstream(url, seconds=ANSWER_SECONDS, max_bytes=MAX_ANSWER_BYTES, connections=AT_ONCE)
