"""A real DNS server for tests: dnspython's messages over UDP and TCP on loopback, with every fault one can wish for."""

import contextlib
from dataclasses import dataclass, field

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import trio


@dataclass
class DnsServer:
    """Answers from `txt` and `addresses`; other names do not exist.

    Args:
        txt: {name: its TXT records}.
        addresses: {name: its A records}.
        faults: {name: `servfail`, `silent`, `garbage`, `loop`, `empty`, `foreign`}.
        asked: (transport, name) of every question.
    """

    txt: dict[str, list[str]] = field(default_factory=dict)
    addresses: dict[str, list[str]] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    port: int = 0

    async def serve(self, task_status: trio.TaskStatus[None]) -> None:
        """Run until cancelled."""
        with trio.socket.socket(trio.socket.AF_INET, trio.socket.SOCK_DGRAM) as udp:
            listeners = await self._bind(udp)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._datagrams, udp)
                nursery.start_soon(trio.serve_listeners, self._stream, listeners)
                task_status.started()

    async def _bind(self, udp: trio.socket.SocketType) -> list[trio.SocketListener]:
        """One port for both, which takes more than one try when the other one is somebody else's."""
        while True:
            listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
            self.port = listeners[0].socket.getsockname()[1]
            try:
                await udp.bind(("127.0.0.1", self.port))
            except OSError:
                for listener in listeners:
                    await listener.aclose()
            else:
                return listeners

    async def _datagrams(self, udp: trio.socket.SocketType) -> None:
        while True:
            wire, peer = await udp.recvfrom(65_535)
            answer = self.answer(wire, "udp")
            if answer is None:
                continue
            if len(answer) > 1232:
                short = dns.message.make_response(dns.message.from_wire(wire))
                short.flags |= dns.flags.TC
                answer = short.to_wire()
            await udp.sendto(answer, peer)

    async def _stream(self, stream: trio.SocketStream) -> None:
        with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            length = int.from_bytes(await stream.receive_some(2), "big")
            wire = await stream.receive_some(length)
            answer = self.answer(wire, "tcp")
            if answer is not None:
                await stream.send_all(len(answer).to_bytes(2, "big") + answer)
            await stream.aclose()

    def answer(self, wire: bytes, transport: str) -> bytes | None:
        """The answer's bytes, or None for silence."""
        query = dns.message.from_wire(wire)
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True).lower()
        self.asked.append((transport, name))
        response = dns.message.make_response(query)
        response.flags |= dns.flags.RA
        fault = self.faults.get(name)
        match fault:
            case "silent":
                return None
            case "garbage":
                return wire[:2] + b"\xff" * 40
            case "servfail":
                response.set_rcode(dns.rcode.SERVFAIL)
                return response.to_wire()
            case "loop":
                other = f"loop.{name}."
                response.answer.append(dns.rrset.from_text(question.name, 60, "IN", "CNAME", other))
                response.answer.append(dns.rrset.from_text(other, 60, "IN", "CNAME", f"{name}."))
                return response.to_wire()
            case "foreign":  # somebody else's record, which nobody asked for
                text = f'"{self.txt[name][0]}"'
                response.answer.append(dns.rrset.from_text("_svc.elsewhere.test.", 60, "IN", "TXT", text))
                return response.to_wire()
            case "empty":
                return response.to_wire()
        kind = dns.rdatatype.to_text(question.rdtype)
        records = self.txt.get(name) if kind == "TXT" else self.addresses.get(name)
        if records is None:
            response.set_rcode(dns.rcode.NXDOMAIN)
        elif records:
            texts = [f'"{record}"' if kind == "TXT" else record for record in records]
            response.answer.append(dns.rrset.from_text(question.name, 60, "IN", kind, *texts))
        return response.to_wire(max_size=65_535)
