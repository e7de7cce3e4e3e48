"""Faults of a site: each is chosen for the next requests, or by a header of one request."""

import gzip
from dataclasses import dataclass, field, replace

import trio

from scripts.upstreams.http import Manner, Reply, Request

HEADER = "x-fault"
"""The header in which a request can name the fault that it meets."""

INSTEAD = {str(status): status for status in (400, 401, 402, 403, 404, 409, 410, 429, 500, 502, 503)}
"""Faults by which a request is refused and changes nothing, {fault: status of the answer}. The site makes the body."""

AFTERWARDS = ("never", "dropped", "cut", "endless", "encoded", "redirect", "html", "deep", "latin", "held")
"""Faults where the request is carried out, and only its answer is spoilt or kept back."""

GARBLED = {"deep": b'{"message":' + b"[" * 200_000, "latin": b'{"id":"caf\xe9","guild_id":"caf\xe9"}'}
"""Bodies that replace that of the answer, whose status stays, {fault: body}: one nested without end, one not in
UTF-8."""


class UnknownFault(ValueError):
    """There is no fault of this name."""


@dataclass(eq=False)
class Fault:
    """One fault.

    Args:
        name: one of `INSTEAD` or `AFTERWARDS`.
        on: how `METHOD /path` of a request, as the site sees it, has to begin; empty = every request.
        times: how many requests meet the fault.
        reached: set when a request has met the fault.
        release: with the fault `held`, the answer waits for this.
    """

    name: str
    on: str = ""
    times: int = 1
    reached: trio.Event = field(default_factory=trio.Event)
    release: trio.Event = field(default_factory=trio.Event)


class Faults:
    """The faults of one site, in the order in which they were added."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []
        self._held: list[Fault] = []

    def add(self, name: str, *, on: str = "", times: int = 1) -> Fault:
        """Add a fault; the arguments are as in `Fault`.

        Raises:
            UnknownFault: there is none of this name.
        """
        fault = Fault(_known(name), on, times)
        self._waiting.append(fault)
        return fault

    def clear(self) -> None:
        """Forget all faults, and let all held answers go."""
        self._waiting.clear()
        self.release()

    def release(self) -> None:
        """Let all held answers go."""
        for fault in self._held:
            fault.release.set()
        self._held.clear()

    def take(self, request: Request) -> Fault | None:
        """The fault that a request meets; None for none.

        Raises:
            UnknownFault: the request's header names a fault that does not exist.
        """
        named = request.headers.get(HEADER)
        if named is not None:
            return Fault(_known(named))
        line = f"{request.method} {request.path}"
        for fault in self._waiting:
            if line.startswith(fault.on):
                fault.times -= 1
                if fault.times < 1:
                    self._waiting.remove(fault)
                return fault
        return None

    async def distorted(self, reply: Reply, fault: Fault) -> Reply:
        """The answer as one of `AFTERWARDS` spoils it; waits while the answer is held."""
        fault.reached.set()
        match fault.name:
            case "held":
                self._held.append(fault)
                await fault.release.wait()
                return reply
            case "encoded":
                packed = gzip.compress(reply.body)
                return replace(reply, body=packed, headers=(*reply.headers, ("Content-Encoding", "gzip")))
            case "redirect":
                return Reply(302, headers=(("Location", "http://127.0.0.1:1/elsewhere"),))
            case "html":
                return Reply(200, b"<html>Back soon</html>", "text/html")
            case "deep" | "latin":
                return replace(reply, body=GARBLED[fault.name])
            case _:
                return replace(reply, manner=Manner(fault.name))


def _known(name: str) -> str:
    if name not in INSTEAD and name not in AFTERWARDS:
        raise UnknownFault(f"no fault is called {name}: {', '.join((*INSTEAD, *AFTERWARDS))}")
    return name
