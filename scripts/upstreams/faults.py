"""What can go wrong at a server of others: chosen one by one, for the next requests or by a header of a request."""

import gzip
from dataclasses import dataclass, field, replace

import trio

from scripts.upstreams.http import Manner, Reply, Request

HEADER = "x-fault"
"""Header of a request that names the fault which it meets."""

INSTEAD = {str(status): status for status in (400, 401, 402, 403, 404, 409, 410, 429, 500, 502, 503)}
"""{fault: the status that is answered}: what was asked does not happen. A site says what its answers hold."""

AFTERWARDS = ("never", "dropped", "cut", "endless", "encoded", "redirect", "html", "deep", "latin", "held")
"""Faults where what was asked happens, and only its answer suffers."""

GARBLED = {"deep": b'{"message":' + b"[" * 200_000, "latin": b'{"id":"caf\xe9","guild_id":"caf\xe9"}'}
"""{fault: the body that is answered, with the status of the answer}: nested without end, and not in UTF-8."""


class UnknownFault(ValueError):
    """There is no such fault."""


@dataclass(eq=False)
class Fault:
    """One fault.

    Args:
        name: of `INSTEAD` or `AFTERWARDS`.
        on: a beginning of `METHOD /path`, as the site sees it; empty = every request.
        times: how many requests meet it.
        reached: set when a request has met it.
        release: with `held`, the answer waits for this.
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
        """Forget all faults, and release what is held."""
        self._waiting.clear()
        self.release()

    def release(self) -> None:
        """Let all held answers go."""
        for fault in self._held:
            fault.release.set()
        self._held.clear()

    def take(self, request: Request) -> Fault | None:
        """The fault that a request meets, or None.

        Raises:
            UnknownFault: its header names none that there is.
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
        """What becomes of an answer by one of `AFTERWARDS`; waits while it is held."""
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
