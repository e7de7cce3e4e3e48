"""Request lines, targets and header fields."""

from collections.abc import Sequence

from tests.edge.differential.case import HOST, case, each, get, post


def _bytes_named(values: Sequence[int]) -> dict[str, bytes]:
    return {f"0x{value:02x}": bytes((value,)) for value in values}


_CONTROLS = [*range(1, 0x09), *range(0x0E, 0x20), 0x7F]
_WORSE = [0, 0x0B, 0x0C]  # h11 refuses these too
_NO_TOKEN = b'"(),/;<=>?@[\\]{}'

MESSAGE = [
    case("an ordinary request", "200 stays", get()),
    case("two, one after the other", "200 200 stays", get(), get()),
    case("empty lines before a request", "200 stays", b"\r\n\r\n" + get()),
    case("an empty line between two requests", "200 200 stays", get(), b"\r\n" + get()),
    case("bare LF at the end of every line", "400 ends", b"GET /x HTTP/1.1\nHost: t\n\n"),
    case("bare LF behind the request line", "400 ends", b"GET /x HTTP/1.1\nHost: t\r\n\r\n"),
    case("bare LF behind a field", "400 ends", get(b"A: b\nC: d\r\n")),
    case("bare LF as the end of the head", "400 ends", b"GET /x HTTP/1.1\r\nHost: t\r\n\n"),
    case("bare CR behind the request line", "400 ends", b"GET /x HTTP/1.1\rHost: t\r\n\r\n"),
    case("bare CR in a field", "400 ends", get(b"A: b\rC: d\r\n")),
    case("two CR", "400 ends", b"GET /x HTTP/1.1\r\r\nHost: t\r\n\r\n"),
    case("a blank before the first field", "400 ends", b"GET /x HTTP/1.1\r\n Host: t\r\n\r\n"),
    case("a TLS hello", "400 ends", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n"),
    case("half a head", "400 ends", b"GET /x HTTP/1.1\r\nHost: t\r\n", unfinished=True),
    case("half a body", "400 ends", post(b"Content-Length: 9\r\n"), unfinished=True),
    case("nothing", "ends", b"", unfinished=True),
]
"""RFC 9112 §2.2, §8."""

REQUEST_LINE = [
    *each(
        "no request line",
        "400 ends",
        {
            "nothing but a word": b"hello\r\n\r\n",
            "no target": get(line=b"GET HTTP/1.1"),
            "no blank": get(line=b"GET/xHTTP/1.1"),
            "a tab behind the method": get(line=b"GET\t/x HTTP/1.1"),
            "a tab in the target": get(line=b"GET /a\tb HTTP/1.1"),
            "a blank in the target": get(line=b"GET /a b HTTP/1.1"),
            "a blank before the method": get(line=b" GET /x HTTP/1.1"),
            "a blank behind the version": get(line=b"GET /x HTTP/1.1 "),
            "NUL in the target": get(line=b"GET /\x00 HTTP/1.1"),
            "DEL in the target": get(line=b"GET /\x7f HTTP/1.1"),
            "umlaut in the target": get(line=b"GET /\xc3\xa4 HTTP/1.1"),
            "fragment": get(line=b"GET /x#y HTTP/1.1"),
            "lower-case protocol": get(line=b"GET /x http/1.1"),
            "another protocol": get(line=b"GET /x HTTPS/1.1"),
            "comma in the version": get(line=b"GET /x HTTP/1,1"),
            "long version": get(line=b"GET /x HTTP/1.10"),
            "no minor version": get(line=b"GET /x HTTP/1"),
            "a sign in the version": get(line=b"GET /x HTTP/1.+1"),
            "unknown method": get(line=b"FOO /x HTTP/1.1"),
            "method in lower case": get(line=b"get /x HTTP/1.1"),
            "method with a separator": get(line=b"GE(T /x HTTP/1.1"),
        },
    ),
    case("two blanks", "200 stays", get(line=b"GET  /x HTTP/1.1")),
    case("HTTP/0.9", "505 ends", b"GET /x\r\n\r\n"),
    case("HTTP/1.2", "400 ends", get(line=b"GET /x HTTP/1.2")),
    case("HTTP/2.0", "505 ends", get(line=b"GET /x HTTP/2.0")),
    case("HTTP/2 by prior knowledge", "505 ends", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    case("RTSP", "200 ends", get(line=b"OPTIONS /x RTSP/1.0")),
    *each(
        "method",
        "200 stays",
        {
            method: get(line=method.encode() + b" /x HTTP/1.1")
            for method in ("DELETE", "OPTIONS", "PATCH", "POST", "PUT", "TRACE", "PROPFIND", "PURGE")
        },
    ),
    case("CONNECT", "400 ends", get(line=b"CONNECT t:80 HTTP/1.1")),
    case("CONNECT with a path", "400 ends", get(line=b"CONNECT /x HTTP/1.1")),
    case("CONNECT with a URL", "400 ends", get(line=b"CONNECT http://t/x HTTP/1.1")),
    case("a target of 8,000 bytes", "200 stays", get(line=b"GET /" + b"x" * 8000 + b" HTTP/1.1")),
    case("a target of 30,000 bytes", "431 ends", get(line=b"GET /" + b"x" * 30_000 + b" HTTP/1.1")),
]
"""RFC 9112 §2.3, §3."""

TARGET = [
    *each(
        "origin form",
        "200 stays",
        {
            target: get(line=b"GET " + target.encode() + b" HTTP/1.1")
            for target in (
                "/",
                "/?",
                "/x?a=b&c=%20",
                "/%C3%A4/%2F",
                "//x//y",
                "/a/../b",
                "/%zz",
                "/%ff",
                "/x;y=z",
                "/a[b]",
                "/%00",
                "/x?a?b#"[:-1],
            )
        },
    ),
    case("absolute form", "200 stays", get(line=b"GET http://t/x?y HTTP/1.1")),
    case("absolute form, another Host", "200 stays", get(line=b"GET http://other:1/x HTTP/1.1")),
    case("absolute form without a path", "200 stays", get(line=b"GET http://t HTTP/1.1")),
    case("absolute form, only a query", "200 stays", get(line=b"GET http://t?y HTTP/1.1")),
    case("absolute form, a slash in the query", "200 stays", get(line=b"GET http://t?y/z HTTP/1.1")),
    case("absolute form, no Host field", "400 ends", get(line=b"GET http://t/x HTTP/1.1", host=b"")),
    *each(
        "target",
        "400 ends",
        {
            "no host": get(line=b"GET http:///x HTTP/1.1"),
            "credentials": get(line=b"GET http://me@t/x HTTP/1.1"),
            "another scheme": get(line=b"GET ftp://t/x HTTP/1.1"),
            "authority form": get(line=b"GET t:80 HTTP/1.1"),
            "relative": get(line=b"GET x HTTP/1.1"),
            "asterisk for GET": get(line=b"GET * HTTP/1.1"),
        },
    ),
    case("asterisk form", "200 stays", get(line=b"OPTIONS * HTTP/1.1")),
    case("no Host", "400 ends", get(host=b"")),
    case("an empty Host", "200 stays", get(host=b"Host:\r\n")),
    case("no Host in HTTP/1.0", "200 ends", get(line=b"GET /x HTTP/1.0", host=b"")),
    *each(
        "Host",
        "200 stays",
        {
            "port": get(host=b"Host: t:8080\r\n"),
            "IPv6": get(host=b"Host: [::1]:80\r\n"),
            "upper case": get(host=b"HOST: T\r\n"),
        },
    ),
    *each(
        "Host",
        "400 ends",
        {
            "twice the same": get(HOST),
            "two different": get(b"Host: u\r\n"),
            "a list": get(host=b"Host: t, u\r\n"),
            "a blank": get(host=b"Host: t u\r\n"),
            "a path": get(host=b"Host: t/u\r\n"),
            "credentials": get(host=b"Host: me@t\r\n"),
            "not ASCII": get(host=b"Host: \xff\r\n"),
            "a tab": get(host=b"Host: t\tu\r\n"),
        },
    ),
]
"""RFC 9112 §3.2, RFC 9110 §4.2.4."""

FIELDS = [
    *each(
        "a control character in a value",
        "400 ends",
        {n: get(b"A: b" + c + b"c\r\n") for n, c in _bytes_named(_CONTROLS).items()},
    ),
    *each(
        "NUL or white space in a value",
        "400 ends",
        {name: get(b"A: b" + control + b"c\r\n") for name, control in _bytes_named(_WORSE).items()},
    ),
    *each(
        "a separator in a name",
        "400 ends",
        {n: get(b"A" + c + b"B: c\r\n") for n, c in _bytes_named(_NO_TOKEN).items()},
    ),
    *each(
        "no name",
        "400 ends",
        {"empty": get(b": b\r\n"), "no colon": get(b"A\r\n"), "a blank": get(b" : b\r\n")},
    ),
    *each(
        "a blank before the colon",
        "400 ends",
        {
            "in Host": get(host=b"Host : t\r\n"),
            "tab": get(b"A\t: b\r\n"),
            "in Content-Length": post(b"Content-Length : 5\r\n"),
            "in Transfer-Encoding": post(b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n"),
        },
    ),
    *each(
        "folded line",
        "400 ends",
        {
            "blank": get(b"A: b\r\n c\r\n"),
            "tab": get(b"A: b\r\n\tc\r\n"),
            "in Host": get(host=b"Host: t\r\n u\r\n"),
            "in Transfer-Encoding": post(b"Transfer-Encoding:\r\n chunked\r\n", b"0\r\n\r\n"),
            "empty": get(b"A: b\r\n \r\n"),
        },
    ),
    case("a length in two lines", "400 ends", post(b"Content-Length: 5\r\n 0\r\n")),
    case("not ASCII in a name", "400 ends", get(b"A\xff: b\r\n")),
    case("not ASCII in a value", "200 stays", get(b"X-Seen: \xc3\xa4\xff\r\n")),
    case("blanks around a value", "200 stays", get(b"X-Seen: \t b c \t \r\n")),
    case("no blank before a value", "200 stays", get(b"X-Seen:b\r\n")),
    case("an empty value", "200 stays", get(b"X-Seen:\r\n")),
    case("a tab in a value", "200 stays", get(b"X-Seen: b\tc\r\n")),
    case("the same field twice", "200 stays", get(b"X-Seen: b\r\nX-Seen: c\r\n")),
    case("120 fields", "200 stays", get(b"A: b\r\n" * 120)),
    case("200 fields", "431 ends", get(b"A: b\r\n" * 200)),
    case("a field of 10,000 bytes", "200 stays", get(b"A: " + b"b" * 10_000 + b"\r\n")),
    case("a field of 30,000 bytes", "431 ends", get(b"A: " + b"b" * 30_000 + b"\r\n")),
    case("a name of 30,000 bytes", "431 ends", get(b"A" * 30_000 + b": b\r\n")),
]
"""RFC 9112 §5, RFC 9110 §5.5."""
