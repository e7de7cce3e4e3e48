"""Cookies: what is set, and what of a request counts as one of ours."""

import pytest

from routes.edge.cookies import Cookie

PLAIN, SECURE = Cookie("it", "Strict", secure=False), Cookie("it", "Lax", secure=True)


def test_what_a_browser_is_told() -> None:
    assert PLAIN.setting("abc", seconds=60) == "it=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Strict"
    assert (
        SECURE.setting("abc", seconds=60)
        == "__Host-it=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure"
    )
    assert PLAIN.removal() == "it=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"


@pytest.mark.parametrize(
    ("sent", "value"),
    [
        ([], None),
        ([b"it=abc"], "abc"),
        ([b"a=b; it=abc;c=d"], "abc"),
        ([b"a=b", b"it=abc"], "abc"),
        ([b" it=abc "], "abc"),
        ([b"it=abc; it=abc"], None),
        ([b"it=abc", b"it=d"], None),
        ([b"it="], None),
        ([b"it"], None),
        ([b"IT=abc"], None),
        ([b"xit=abc"], None),
        ([b'it="abc"'], None),
        ([b"it=a b"], None),
        ([b"it=a=b"], None),
        ([b"it=\xff"], None),
        ([b"it=" + b"a" * 4096], "a" * 4096),
        ([b"it=" + b"a" * 4097], None),
    ],
)
def test_what_a_request_carries(sent: list[bytes], value: str | None) -> None:
    assert PLAIN.of([(b"host", b"it=x"), *((b"cookie", one) for one in sent)]) == value


def test_a_prefix_is_part_of_the_name() -> None:
    assert SECURE.of([(b"cookie", b"it=abc")]) is None
    assert SECURE.of([(b"cookie", b"__Host-it=abc")]) == "abc"
