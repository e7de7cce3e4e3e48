"""What the sites of both catalogues of mods have in common: requests that have come, faults, and control routes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import trio

from scripts.upstreams.faults import INSTEAD, Faults
from scripts.upstreams.http import Reply, Request, as_json
from scripts.upstreams.mods import SHOWN, Mod

ASKED_MAX = 10_000


class CatalogueSite(ABC):
    """A catalogue of mods.

    Args:
        mods: the mods that it has, by rank.

    Attributes:
        base_url: the site's address, set by the server that it is part of.
        faults: the faults that requests meet.
        asked: the requests that have come, the newest last.
        retry_after: the value of Retry-After in answers that are failures; None for no such header.
    """

    def __init__(self, mods: Sequence[Mod] = SHOWN) -> None:
        self.mods = mods
        self.base_url = ""
        self.faults = Faults()
        self.asked: list[Request] = []
        self.retry_after: str | None = None

    async def answer(self, request: Request) -> Reply:
        """Answer a request."""
        self.asked.append(request)
        del self.asked[:-ASKED_MAX]
        fault = self.faults.take(request)
        if fault is None:
            return self.found(request)
        if fault.name in INSTEAD:
            fault.reached.set()
            return self._retried(self.failed(INSTEAD[fault.name]))
        return await self.faults.distorted(self.found(request), fault)

    @abstractmethod
    def found(self, request: Request) -> Reply:
        """The answer where nothing goes wrong."""

    @abstractmethod
    def failed(self, status: int) -> Reply:
        """The answer to a request that fails with this status."""

    def control(self, line: str, body: Mapping[str, Any]) -> Reply | None:
        """Tell which requests have come, or set the Retry-After of failures; None where there is no such route.

        Raises:
            ValueError, KeyError: the body is not what the route takes.
        """
        match line:
            case "GET /asked":
                return as_json(200, [[one.method, one.path, dict(one.query)] for one in self.asked])
            case "POST /retry":
                self.retry_after = body["after"]
                return as_json(200, {})
            case _:
                return None

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Report the start; a catalogue does nothing beside answering."""
        task_status.started()
        await trio.sleep_forever()

    def _retried(self, reply: Reply) -> Reply:
        if self.retry_after is None:
            return reply
        return replace(reply, headers=(*reply.headers, ("Retry-After", self.retry_after)))
