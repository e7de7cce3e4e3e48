"""Asks one DNS server: its answers are bounded before they are parsed, and parsed in a worker thread.

The owner of a zone decides what its answers contain, and dnspython takes milliseconds to parse a CNAME whose name has
many labels, and seconds for 64 KB of anything. So the bytes and the number of records are bounded first, records of
other types and additional sections are ignored, and dnspython's resolver is given a message with nothing but the
records that were asked for, at the name that was asked for.
"""

import struct
from collections import defaultdict
from socket import SOCK_DGRAM
from typing import Any

import dns.exception
import dns.inet
import dns.message
import dns.name
import dns.nameserver
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import trio

MAX_BYTES = 4096
"""Most bytes of an answer, all its sections included."""

MAX_RECORDS = 64
"""Most records in the answer section; those of other sections are never read."""

MAX_CHAIN = 16
"""Most names in the CNAME chain of an answer, the name that was asked for included."""

HEADER_BYTES = 12

_RESPONSE, _OPERATION, _TRUNCATED = 0x80, 0x78, 0x02
"""Masks of the third byte of a message: whether it is an answer, its operation (0 is a query), whether it is cut short.
"""

_FIELDS = struct.Struct("!HHIH")
"""The fields of a record after its name: type, class, time to live in seconds, and the size of what follows."""

_UNQUOTED = frozenset((dns.rcode.FORMERR, dns.rcode.SERVFAIL, dns.rcode.NOTIMP, dns.rcode.REFUSED))
"""Response codes whose message need not repeat the question."""


class AnswerTooLarge(dns.exception.FormError):
    """The answer has more than `MAX_BYTES` or `MAX_RECORDS`; asking another server would hardly help."""


class BoundedNameserver(dns.nameserver.Do53Nameserver):
    """A DNS server whose answers never block the event loop, whatever they contain.

    Args:
        address: an IP address.
        port: for UDP and TCP.
        reading: limits how many answers are parsed at the same time, in worker threads.
    """

    def __init__(self, address: str, port: int, reading: trio.CapacityLimiter) -> None:
        super().__init__(address, port)
        self._reading = reading

    async def async_query(
        self, request: dns.message.QueryMessage, timeout: float, *_: Any, **options: Any
    ) -> dns.message.Message:
        """Ask over UDP, or over TCP if `max_size` is among the options, which is the only one that is looked at.

        Args:
            request: a query with one question.
            timeout: seconds for the whole exchange.

        Raises:
            AnswerTooLarge: the answer is too large, and was not parsed.
            dns.message.Truncated: the answer does not fit into a datagram.
            dns.exception.FormError: the answer is malformed.
            dns.exception.Timeout: no answer came in time.
            OSError: the server cannot be reached.
            trio.BrokenResourceError: the connection was lost.
            EOFError: the server closed the connection.

        Cancellation: nothing is left open; an answer that is being parsed is parsed to its end, and dropped.
        """
        exchange = _over_tcp if options["max_size"] else _over_udp
        with trio.move_on_after(timeout):
            wire = await exchange((self.address, self.port), request.to_wire())
            return await trio.to_thread.run_sync(read, request, wire, limiter=self._reading)
        raise dns.exception.Timeout()  # type: ignore[no-untyped-call]


async def _over_udp(server: tuple[str, int], query: bytes) -> bytes:
    with trio.socket.socket(dns.inet.af_for_address(server[0]), SOCK_DGRAM) as udp:
        await udp.connect(server)
        await udp.send(query)
        wire = await udp.recv(MAX_BYTES + 1)
        while not is_answer(query, wire):  # whoever guesses our port can send one
            wire = await udp.recv(MAX_BYTES + 1)
    if wire[2] & _TRUNCATED:
        raise dns.message.Truncated
    return bounded(wire)


async def _over_tcp(server: tuple[str, int], query: bytes) -> bytes:
    with trio.socket.socket(dns.inet.af_for_address(server[0])) as opened:
        await opened.connect(server)
        tcp = trio.SocketStream(opened)
        await tcp.send_all(len(query).to_bytes(2, "big") + query)
        length = int.from_bytes(await _received(tcp, 2), "big")
        if length > MAX_BYTES:
            raise AnswerTooLarge
        wire = await _received(tcp, length)
    if not is_answer(query, wire):
        raise dns.exception.FormError
    return bounded(wire)


async def _received(tcp: trio.SocketStream, count: int) -> bytes:
    received = b""
    while len(received) < count:
        part = await tcp.receive_some(count - len(received))
        if not part:
            raise EOFError
        received += part
    return received


def is_answer(query: bytes, wire: bytes) -> bool:
    """Whether a message answers a query: it has the same number and repeats the question, in whatever case.

    Args:
        query: the query, with one question and no zero byte in its name.
        wire: the bytes that were received.
    """
    if wire[:2] != query[:2] or len(wire) < HEADER_BYTES:
        return False
    if wire[2] & (_RESPONSE | _OPERATION) != _RESPONSE:
        return False
    if wire[4:6] == b"\0\0":
        return wire[3] & 0xF in _UNQUOTED
    question = slice(HEADER_BYTES, query.index(0, HEADER_BYTES) + 5)
    return wire[4:6] == b"\0\1" and wire[question].lower() == query[question].lower()


def bounded(wire: bytes) -> bytes:
    """Check that an answer is no larger than what is parsed, and return it.

    Raises:
        AnswerTooLarge: the answer is larger.
    """
    if len(wire) > MAX_BYTES or int.from_bytes(wire[6:8], "big") > MAX_RECORDS:
        raise AnswerTooLarge
    return wire


def read(request: dns.message.QueryMessage, wire: bytes) -> dns.message.Message:
    """Parse an answer to a request; runs in a worker thread. The CNAME records of its chain are not in the result.

    Args:
        wire: the answer's bytes, which `is_answer` and `bounded` have accepted.

    Raises:
        dns.exception.FormError: the answer cannot be parsed, or its chain goes in circles.
    """
    question = request.question[0]
    answer = dns.message.make_response(request)
    answer.set_rcode(dns.rcode.from_flags(wire[3], 0))
    if answer.rcode() == dns.rcode.NOERROR:
        for record in _followed(question.name, question.rdtype, _records(wire, question.rdtype)):
            known = answer.find_rrset(
                answer.answer, question.name, record.rdclass, record.rdtype, create=True
            )
            known.add(record)
    return answer


_Records = dict[tuple[dns.name.Name, int], list[dns.rdata.Rdata]]


def _records(wire: bytes, asked: int) -> _Records:
    """{(name, type): records of the answer section}, of the type that was asked for and of CNAME."""
    found: _Records = defaultdict(list)
    _, length = dns.name.from_wire(wire, HEADER_BYTES)
    at = HEADER_BYTES + length + 4
    for _ in range(int.from_bytes(wire[6:8], "big")):
        owner, length = dns.name.from_wire(wire, at)
        at += length + _FIELDS.size
        if at > len(wire):
            raise dns.exception.FormError
        kind, of_class, _, size = _FIELDS.unpack_from(wire, at - _FIELDS.size)
        if of_class == dns.rdataclass.IN and kind in {asked, dns.rdatatype.CNAME}:
            found[owner, kind].append(dns.rdata.from_wire(of_class, kind, wire, at, size))
        at += size
    return found


def _followed(name: dns.name.Name, asked: int, records: _Records) -> list[dns.rdata.Rdata]:
    for _ in range(MAX_CHAIN):
        if (name, asked) in records:
            return records[name, asked]
        aliases = records.get((name, dns.rdatatype.CNAME))
        if aliases is None:
            return []
        name = aliases[-1].target  # type: ignore[attr-defined]
    raise dns.exception.FormError
