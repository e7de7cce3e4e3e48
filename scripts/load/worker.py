"""A worker process: takes orders line by line on standard input, answers each on standard output.

It ends when its input ends, so it never outlives the parent.
"""

import gc
import os
import resource
from collections.abc import Callable

import msgspec
import trio
from msgspec.structs import replace

from scripts.load.clients.client import SubscribeRefused
from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.exchange import Answer, Done, Failed, Mark, Open, Opened, Order, Settle, Start, Stop
from scripts.load.clients.http import RequestFailed
from scripts.load.clients.websocket import UpgradeRefused
from scripts.load.traffic import Traffic
from scripts.load.workloads.agents import Agents
from scripts.load.workloads.chat import Chat
from scripts.load.workloads.commands import Commands
from scripts.load.workloads.friends import Friends
from scripts.load.workloads.idle import Idle
from scripts.load.workloads.parties import Parties
from scripts.load.workloads.rest import Rest

_MAX_LINE_BYTES = 64 << 20
_TRAFFIC: dict[str, Callable[[EventLoop, Open], Traffic]] = {
    "chat": Chat,
    "rest": Rest,
    "idle": Idle,
    "friends": Friends,
    "parties": Parties,
    "commands": Commands,
    "agents": Agents,
}
_decode = msgspec.json.Decoder(Order).decode
_encode = msgspec.json.Encoder().encode


class Lines:
    """Reads whole lines from a stream."""

    def __init__(self, stream: trio.abc.ReceiveStream) -> None:
        self._stream, self._buffer = stream, bytearray()

    async def next(self) -> bytes | None:
        """The next line without its end; None at the end of the stream."""
        while (end := self._buffer.find(b"\n")) < 0:
            data = await self._stream.receive_some(1 << 20)
            if not data:
                return None
            self._buffer += data
            if len(self._buffer) > _MAX_LINE_BYTES:
                raise ValueError("a line is too long")
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line


async def obey(loop: EventLoop, lines: Lines, answers: trio.abc.SendStream, nursery: trio.Nursery) -> None:
    """Carry out orders until there are no more."""
    traffic: Traffic | None = None
    reopens = False
    while (line := await lines.next()) is not None:
        order = _decode(line)
        answer: Answer
        if isinstance(order, Open):
            opened, reopens = _traffic(loop, order), order.plan.reopen
            traffic, answer = opened, await _open(opened)
        elif traffic is None:
            answer = Failed("nothing is open")
        elif isinstance(order, Start):
            gc.collect()
            gc.freeze()  # sockets that are open now stay: the collector need not walk them again and again
            nursery.start_soon(traffic.drive)
            if traffic.reopening is not None and reopens:
                nursery.start_soon(traffic.reopening.run)
            answer = Done()
        elif isinstance(order, Mark):
            reconnects = 0 if traffic.reopening is None else traffic.reopening.take()
            answer = replace(traffic.mark(), reconnects=reconnects)
        elif isinstance(order, Stop):
            if traffic.reopening is not None:
                traffic.reopening.stop()
            answer = await traffic.stop()
        elif isinstance(order, Settle):
            answer = await traffic.settle(order.least, order.most)
        await answers.send_all(_encode(answer) + b"\n")


def _traffic(loop: EventLoop, job: Open) -> Traffic:
    return _TRAFFIC[job.plan.traffic](loop, job)


async def _open(traffic: Traffic) -> Answer:
    began = trio.current_time()
    refused = (UpgradeRefused, SubscribeRefused, RequestFailed, OSError, KeyError)
    why: list[str] = []

    def note(group: BaseExceptionGroup[BaseException]) -> None:
        while isinstance(group.exceptions[0], BaseExceptionGroup):
            group = group.exceptions[0]
        why.append(str(group.exceptions[0]) or repr(group.exceptions[0]))

    sockets = 0
    try:
        sockets = await traffic.open()
    except* refused as group:
        note(group)
    return Failed(why[0]) if why else Opened(sockets, trio.current_time() - began)


async def main() -> None:
    """Take the orders of one parent, on standard input, until it ends."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    loop = EventLoop()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(loop.run)
        orders, answers = trio.lowlevel.FdStream(os.dup(0)), trio.lowlevel.FdStream(os.dup(1))
        await obey(loop, Lines(orders), answers, nursery)
        nursery.cancel_scope.cancel()


if __name__ == "__main__":
    trio.run(main)
