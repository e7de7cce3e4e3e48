"""The parser of answers: as dnspython reads them, and nothing else than a message or a refusal for whatever comes."""

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rrset
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routes.networks.nameserver import (
    MAX_BYTES,
    MAX_RECORDS,
    AnswerTooLarge,
    bounded,
    is_answer,
    read,
)

REQUEST = dns.message.make_query("_svc.example.org.", "TXT", id=0x1234)
QUERY = REQUEST.to_wire()

NAMES = ("_svc.example.org.", "_SVC.Example.ORG.", "a.example.org.", "b.test.", "c.b.test.")

RECORDS = st.tuples(
    st.sampled_from(NAMES),
    st.one_of(
        st.tuples(st.just("TXT"), st.sampled_from(('"one"', '"two" "three"', '""'))),
        st.tuples(st.just("CNAME"), st.sampled_from(NAMES)),
        st.tuples(st.just("A"), st.just("192.0.2.1")),
    ),
)


def answer_of(records: list[tuple[str, tuple[str, str]]], rcode: int = 0) -> bytes:
    """A well-formed answer to `REQUEST` with these records, in this order."""
    message = dns.message.make_response(REQUEST)
    message.set_rcode(rcode)
    for name, (kind, content) in records:
        message.answer.append(dns.rrset.from_text(name, 60, "IN", kind, content))
    return message.to_wire(max_size=65_535)


def texts_by_dnspython(wire: bytes) -> list[str] | None:
    """What dnspython's own parser and chain find; None where they refuse the answer."""
    try:
        found = dns.message.from_wire(wire).resolve_chaining().answer  # type: ignore[attr-defined]
    except dns.exception.DNSException:
        return None
    return [] if found is None else sorted(record.to_text() for record in found)


def texts_read(wire: bytes) -> list[str] | None:
    """The same of `read`."""
    try:
        message = read(REQUEST, wire)
    except dns.exception.FormError:
        return None
    return sorted(record.to_text() for rrset in message.answer for record in rrset)


@given(records=st.lists(RECORDS, max_size=12))
def test_as_dnspython_reads_it(records: list[tuple[str, tuple[str, str]]]) -> None:
    wire = answer_of(records)
    assert is_answer(QUERY, wire)
    assert texts_read(bounded(wire)) == texts_by_dnspython(wire)


@given(
    wire=st.lists(RECORDS, max_size=6).map(answer_of),
    changes=st.lists(st.tuples(st.integers(12, 400), st.integers(0, 255)), max_size=8),
    cut=st.integers(0, 40),
    count=st.integers(0, 80),
    added=st.binary(max_size=40),
)
def test_whatever_comes_is_a_message_or_refused(
    wire: bytes, changes: list[tuple[int, int]], cut: int, count: int, added: bytes
) -> None:
    broken = bytearray(wire[: max(12, len(wire) - cut)] + added)
    broken[6:8] = count.to_bytes(2, "big")
    for at, value in changes:
        broken[at % (len(broken) - 12) + 12 if len(broken) > 12 else 0] = value
    said = bytes(broken)
    is_answer(QUERY, said)
    texts = texts_read(said)
    assert texts is None or len(texts) <= count


@given(wire=st.binary(max_size=64))
def test_noise_is_no_answer(wire: bytes) -> None:
    """Forty bits and the question would have to be right by accident."""
    assert not is_answer(QUERY, wire)
    assert not is_answer(QUERY, QUERY)


@pytest.mark.parametrize("rcode", range(16))
def test_a_failure_need_not_repeat_the_question(rcode: int) -> None:
    bare = bytes((*QUERY[:2], 0x81, 0x80 | rcode, *bytes(8)))
    assert is_answer(QUERY, bare) == (rcode in {1, 2, 4, 5})
    assert read(REQUEST, answer_of([], rcode)).rcode() == rcode


@given(size=st.integers(12, 2 * MAX_BYTES), count=st.integers(0, 65_535))
def test_what_is_larger_is_refused(size: int, count: int) -> None:
    wire = bytes(6) + count.to_bytes(2, "big") + bytes(size - 8)
    if size <= MAX_BYTES and count <= MAX_RECORDS:
        assert bounded(wire) is wire
    else:
        with pytest.raises(AnswerTooLarge):
            bounded(wire)
