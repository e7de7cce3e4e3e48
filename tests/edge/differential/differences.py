"""Where our server does not do as stock Hypercorn does, and why; every other row of the table is the same on both."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """What stock does, and why we do not.

    Args:
        stock: the outcome there; None where it is not asked, as nothing can be awaited from it.
        reason: with the rule behind it.
        names: of rows, or what stands before the colon in several.
    """

    stock: str | None
    reason: str
    names: tuple[str, ...]


DIFFERENCES = [
    # -- we refuse, stock takes: each is a way to be understood differently by a proxy in front
    Difference(
        "200 stays",
        "RFC 9112 §2.2 lets a server take a bare LF; whoever does not sees another message than one who does.",
        (
            "bare LF at the end of every line",
            "bare LF behind the request line",
            "bare LF behind a field",
            "bare LF as the end of the head",
            "no chunks: bare LF in the trailer",
        ),
    ),
    Difference(
        "200 stays",
        "RFC 9112 §5.2: a server must refuse a folded line or replace it; RFC 9110 §5.5 warns of control characters.",
        (
            "folded line",
            "no name: a blank",
            "no chunks: folded trailer",
            "a control character in a value",
            "no chunks: bare CR in an extension",
            "no chunks: NUL in an extension",
        ),
    ),
    Difference(
        "200 stays",
        "RFC 9112 §6.3: a message with both, or with a length that is repeated, ought to be handled as an error.",
        (
            "length before chunks",
            "chunks before length",
            "the same length twice",
            "the same length in a list",
            "no chunks: length in the trailer",
        ),
    ),
    Difference(
        "200 stays",
        "RFC 9110 §5.5 lets a tab stand behind a value; httptools does not know the coding then, and is safe.",
        ("a coding and a tab",),
    ),
    Difference(
        "200 stays", "RFC 9112 §7.1: a chunk size has no blank behind it.", ("no chunks: blank behind",)
    ),
    Difference("200 ends", "RFC 9112 §6.1: HTTP/1.0 knows no transfer codings.", ("chunks in HTTP/1.0",)),
    Difference(
        "200 stays",
        "RFC 9112 §3.2: whoever gets another form of target, or a Host that cannot be one, answers 400.",
        (
            "target",
            "Host: a list",
            "Host: a blank",
            "Host: a path",
            "Host: credentials",
            "Host: not ASCII",
            "Host: a tab",
        ),
    ),
    Difference(
        "200 stays", "RFC 9112 §3.2: a fragment is no part of a target.", ("no request line: fragment",)
    ),
    Difference(
        "200 stays",
        "RFC 9110 §9.1: methods that nobody here knows; httptools knows those of the IANA registry. Case counts.",
        ("no request line: unknown method", "no request line: method in lower case"),
    ),
    Difference(
        "200 stays",
        "Bounds of ours; h11's count only for what has not arrived in one piece.",
        (
            "200 fields",
            "a field of 30,000 bytes",
            "a name of 30,000 bytes",
            "a target of 30,000 bytes",
            "a trailer of 30,000 bytes",
            "an extension of 30,000 bytes",
        ),
    ),
    Difference("200 stays", "RFC 9112 §2.3: there is no such version yet.", ("HTTP/1.2", "HTTP/2.0")),
    Difference("ends", "RFC 9110 §9.3.6: no proxy; stock's application fails.", ("CONNECT",)),
    Difference(
        "ends",
        "RFC 9110 §9.3.6: no proxy; stock's application fails.",
        ("CONNECT with a path", "CONNECT with a URL"),
    ),
    # -- we take, stock refuses
    Difference(
        "400 ends",
        "RFC 9112 §2.2: a server should ignore an empty line before a request.",
        ("empty lines before a request",),
    ),
    Difference("200 400 ends", "The same between two requests.", ("an empty line between two requests",)),
    Difference("400 ends", "RFC 9112 §3: a server may split the request line at blanks.", ("two blanks",)),
    Difference(
        "400 ends", "httptools takes it for HTTP/1.0; nothing follows, so nobody is deceived.", ("RTSP",)
    ),
    Difference(
        "400 ends",
        "RFC 9112 §9.6: what comes behind `close` is ignored; stock forgets the request before it.",
        ("requests behind close", "nonsense behind close"),
    ),
    Difference(
        "200 ends",
        "RFC 9112 §9.3: HTTP/1.0 keeps a connection that asks for it.",
        ("HTTP/1.0 with keep-alive",),
    ),
    # -- another word for the same
    Difference("400 ends", "RFC 9110 §15.6.6: 505 says which version would do.", ("HTTP/0.9",)),
    Difference(
        "501 ends",
        "RFC 9112 §6.1 wants 501 for an unknown coding; these are refused before by what they do to the framing.",
        ("framing",),
    ),
    Difference(
        "200 400 ends",
        "Fault 4 of Hypercorn: it takes the next request for the rest of the body. We say `close`.",
        ("a body that nobody reads",),
    ),
    Difference(
        "100 200 400 ends",
        "RFC 9110 §10.1.1: 100 asks for a body that is read; nobody reads this one. Then as above.",
        ("100-continue that nobody reads",),
    ),
    Difference(
        "100 200 stays",
        "RFC 9110 §10.1.1: a server may leave out 100 where the body is there already.",
        ("100-continue with its body",),
    ),
    # -- stock is not asked
    Difference(
        None,
        "Stock waits for what does not come: it takes the size, or the end of the line, for valid.",
        ("no length: 18446744073709551621", "no chunks: 17 digits", "no chunks: bare LF at the end"),
    ),
    Difference(None, "Stock waits until its keep-alive ends.", ("nothing",)),
    Difference(
        None,
        "Stock speaks HTTP/2 there (RFC 9113 §3.3), ours only over TLS: a stranger's HPACK state is not for cleartext.",
        ("HTTP/2 by prior knowledge", "an upgrade to HTTP/2"),
    ),
    Difference(
        None,
        "Stock takes it for a handshake and says nothing, or its process ends (fault 1).",
        (
            "a handshake with a body",
            "a handshake in HTTP/1.0",
            "a handshake without a key",
            "a handshake of version 8",
        ),
    ),
]


def difference(name: str) -> Difference | None:
    """What is written about a row, or None."""
    family = name.partition(": ")[0]
    found = [one for one in DIFFERENCES if name in one.names or family in one.names]
    assert len(found) <= 1, name
    return found[0] if found else None
