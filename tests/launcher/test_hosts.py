"""Which hosts an allowlist may name."""

import pytest

from actors.errors import Invalid
from actors.launcher.hosts import HOSTS_MAX, checked, told

REFUSED = {
    "1.2.3.4": "NOT_ALLOWED",
    "::1": "NOT_ALLOWED",
    "[2001:db8::1]": "NOT_ALLOWED",
    "*.1.2.3.4": "NOT_ALLOWED",
    "com": "NOT_ALLOWED",
    "*.com": "NOT_ALLOWED",
    "*.co.uk": "NOT_ALLOWED",
    "localhost": "NOT_ALLOWED",
    "example.org:443": "BAD_FORMAT",
    "https://example.org": "BAD_FORMAT",
    "example.org/path": "BAD_FORMAT",
    "a.*.example.org": "BAD_FORMAT",
    "**.example.org": "BAD_FORMAT",
    "*.*.example.org": "BAD_FORMAT",
    "*example.org": "BAD_FORMAT",
    "*.": "BAD_FORMAT",
    "127.1": "BAD_FORMAT",
    "a b.example.org": "BAD_FORMAT",
    "": "BAD_FORMAT",
}


@pytest.mark.parametrize("host", REFUSED)
def test_what_is_no_name_of_a_host_is_refused(host: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked(["example.org", host], "/hosts")
    (error,) = refused.value.errors
    assert (error.pointer, error.code) == ("/hosts/1", REFUSED[host])


def test_spellings_of_one_host_are_one() -> None:
    hosts = [
        "Example.ORG",
        "example.org.",
        "*.Bücher.example.org",
        "*.xn--bcher-kva.example.org",
        "a.example.org",
    ]
    assert checked(hosts, "/hosts") == ["*.xn--bcher-kva.example.org", "a.example.org", "example.org"]


def test_as_many_as_may_be_and_one_more() -> None:
    hosts = [f"h{number}.example.org" for number in range(HOSTS_MAX + 1)]
    assert len(checked(hosts[:-1], "/hosts")) == HOSTS_MAX
    with pytest.raises(Invalid) as refused:
        checked(hosts, "/hosts")
    (error,) = refused.value.errors
    assert (error.pointer, error.code) == ("/hosts", "TOO_MANY")


def test_what_launchers_need_is_always_among_them() -> None:
    addresses = ["http://127.0.0.1:8080", "https://Board.Example.org/x"]
    assert told(["cdn.example.org", "a.example.org"], addresses, ["cdn.example.org"]) == [
        "127.0.0.1", "a.example.org", "board.example.org", "cdn.example.org",
    ]  # fmt: skip
