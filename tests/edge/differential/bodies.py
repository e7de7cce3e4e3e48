"""Bodies: by length, in chunks, and everything that smuggles a second request past a proxy."""

from tests.edge.differential.case import case, chunked, each, get, post

LENGTH = [
    case("a body", "200 stays", post(b"Content-Length: 5\r\n")),
    case("a body in two pieces", "200 stays", post(b"Content-Length: 5\r\n", b"") + b"hello"),
    case("no body", "200 stays", post(b"", b"")),
    case("a length of nothing", "200 stays", post(b"Content-Length: 0\r\n", b"")),
    case("zeros before a length", "200 stays", post(b"Content-Length: 0005\r\n")),
    case("blanks around a length", "200 stays", post(b"Content-Length: \t5 \t\r\n")),
    case("a body of a GET", "200 stays", get(b"Content-Length: 5\r\n") + b"hello"),
    case("a body of 200,000 bytes", "200 stays", post(b"Content-Length: 200000\r\n", b"x" * 200_000)),
    *each(
        "no length",
        "400 ends",
        {
            text.decode("latin-1"): post(b"Content-Length: " + text + b"\r\n")
            for text in (
                b"",
                b"+5",
                b"-5",
                b"0x5",
                b"5 5",
                b"5.0",
                b"5;a",
                b"five",
                b"5\xff",
                b"1" * 25,
                b"18446744073709551621",
            )
        },
    ),
    case("the same length twice", "400 ends", post(b"Content-Length: 5\r\nContent-Length: 5\r\n")),
    case("the same length in a list", "400 ends", post(b"Content-Length: 5, 5\r\n")),
    case("two lengths", "400 ends", post(b"Content-Length: 5\r\nContent-Length: 6\r\n")),
    case("two lengths in a list", "400 ends", post(b"Content-Length: 5, 6\r\n")),
    case(
        "length before chunks",
        "400 ends",
        post(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"),
    ),
    case(
        "chunks before length",
        "400 ends",
        post(b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", b"0\r\n\r\n"),
    ),
    case(
        "no length beside chunks",
        "400 ends",
        post(b"Content-Length: x\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"),
    ),
    *each(
        "coding",
        "501 ends",
        {
            text.decode("latin-1"): post(b"Transfer-Encoding: " + text + b"\r\n", b"0\r\n\r\n")
            for text in (
                b"gzip",
                b"identity",
                b"xchunked",
                b"chunkedx",
                b"chunked;a=b",
                b'"chunked"',
                b"gzip, chunked",
            )
        },
    ),
    *each(
        "framing",
        "400 ends",
        {
            text.decode("latin-1"): post(b"Transfer-Encoding: " + text + b"\r\n", b"0\r\n\r\n")
            for text in (b"", b"chunked, gzip", b"chunked, chunked", b"chunked,")
        },
    ),
    *each(
        "no coding",
        "400 ends",
        {
            text.decode("latin-1"): post(b"Transfer-Encoding: " + text + b"\r\n", b"0\r\n\r\n")
            for text in (b"\x0bchunked", b"chunked\x00")
        },
    ),
    case(
        "framing: chunked twice",
        "400 ends",
        post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"),
    ),
    case(
        "framing: a tab, and a second line",
        "400 ends",
        post(b"Transfer-Encoding: chunked\t\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"),
    ),
    case("a coding and a tab", "400 ends", post(b"Transfer-Encoding: chunked\t\r\n", b"0\r\n\r\n")),
    case(
        "framing: two lines",
        "400 ends",
        post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", b"0\r\n\r\n"),
    ),
    case("chunked in upper case", "200 stays", post(b"TRANSFER-ENCODING: CHUNKED\r\n", b"0\r\n\r\n")),
    case(
        "chunks in HTTP/1.0", "400 ends", b"POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    case("chunks of a GET", "200 stays", get(b"Transfer-Encoding: chunked\r\n") + b"5\r\nhello\r\n0\r\n\r\n"),
]
"""RFC 9112 §6, RFC 9110 §8.6."""

CHUNKS = [
    *each(
        "chunks",
        "200 stays",
        {
            "one": chunked(b"5\r\nhello\r\n0\r\n\r\n"),
            "several": chunked(b"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"),
            "none": chunked(b"0\r\n\r\n"),
            "zeros": chunked(b"0005\r\nhello\r\n000\r\n\r\n"),
            "letters": chunked(b"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n"),
            "extension": chunked(b"5;a=b\r\nhello\r\n0;c\r\n\r\n"),
            "quoted extension": chunked(b'5;a="b c"\r\nhello\r\n0\r\n\r\n'),
            "trailer": chunked(b"5\r\nhello\r\n0\r\nX-Seen: late\r\n\r\n"),
            "large": chunked(b"c350\r\n" + b"x" * 50_000 + b"\r\n0\r\n\r\n"),
        },
    ),
    *each(
        "no chunks",
        "400 ends",
        {
            "no size": chunked(b"\r\nhello\r\n0\r\n\r\n"),
            "sign": chunked(b"+5\r\nhello\r\n0\r\n\r\n"),
            "minus": chunked(b"-5\r\nhello\r\n0\r\n\r\n"),
            "prefix": chunked(b"0x5\r\nhello\r\n0\r\n\r\n"),
            "no digit": chunked(b"g\r\nhello\r\n0\r\n\r\n"),
            "blank before": chunked(b" 5\r\nhello\r\n0\r\n\r\n"),
            "blank behind": chunked(b"5 \r\nhello\r\n0\r\n\r\n"),
            "blank before an extension": chunked(b"5 ;a=b\r\nhello\r\n0\r\n\r\n"),
            "21 digits": chunked(b"1" * 21 + b"\r\nhello\r\n0\r\n\r\n"),
            "17 digits": chunked(b"fffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
            "underscore": chunked(b"1_0\r\nhello\r\n0\r\n\r\n"),
            "bare LF behind the size": chunked(b"5\nhello\r\n0\r\n\r\n"),
            "bare CR behind the size": chunked(b"5\rhello\r\n0\r\n\r\n"),
            "bare LF behind the data": chunked(b"5\r\nhello\n0\r\n\r\n"),
            "bare LF in an extension": chunked(b"5;a\nb\r\nhello\r\n0\r\n\r\n"),
            "bare CR in an extension": chunked(b"5;a\rb\r\nhello\r\n0\r\n\r\n"),
            "NUL in an extension": chunked(b"5;\x00\r\nhello\r\n0\r\n\r\n"),
            "nothing behind the data": chunked(b"5\r\nhello0\r\n\r\n"),
            "longer than its size": chunked(b"5\r\nhello!\r\n0\r\n\r\n"),
            "shorter than its size": chunked(b"5\r\nhell\r\n0\r\n\r\n"),
            "nonsense behind a chunk": chunked(b"5\r\nhello\r\nnonsense\r\n"),
            "bare LF at the end": chunked(b"5\r\nhello\r\n0\n\n"),
            "length in the trailer": chunked(b"0\r\nContent-Length: 5\r\n\r\n"),
            "no colon in the trailer": chunked(b"0\r\nA\r\n\r\n"),
            "blank before a colon in the trailer": chunked(b"0\r\nA : b\r\n\r\n"),
            "folded trailer": chunked(b"0\r\nA: b\r\n c\r\n\r\n"),
            "bare LF in the trailer": chunked(b"0\r\nA: b\n\r\n"),
            "NUL in the trailer": chunked(b"0\r\nA: \x00\r\n\r\n"),
        },
    ),
    case("a trailer of 30,000 bytes", "431 ends", chunked(b"0\r\nA: " + b"b" * 30_000 + b"\r\n\r\n")),
    case(
        "an extension of 30,000 bytes", "431 ends", chunked(b"5;" + b"b" * 30_000 + b"\r\nhello\r\n0\r\n\r\n")
    ),
    case("an end within chunks", "400 ends", chunked(b"5\r\nhel"), unfinished=True),
]
"""RFC 9112 §7.1."""
