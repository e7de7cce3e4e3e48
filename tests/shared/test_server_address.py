"""Addresses of game servers: what is one, and who means the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.server_address import is_internal, normal_address, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("play.example.org", "play.example.org"),
        ("Play.EXAMPLE.org.", "play.example.org"),
        ("play.example.org:25565", "play.example.org"),
        ("play.example.org.:025565", None),
        ("play.example.org.:1", "play.example.org:1"),
        ("play.example.org:00080", "play.example.org:80"),
        ("localhost", "localhost"),
        ("203.0.113.9:65535", "203.0.113.9:65535"),
        ("[2001:DB8::1]:25566", "[2001:db8::1]:25566"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("play.example.org:0", None),
        ("play.example.org:65536", None),
        ("play.example.org:", None),
        ("mc://play.example.org", None),
        ("user@play.example.org", None),
        ("play.example.org/map", None),
        ("play..example.org", None),
        ("-a.example", None),
        ("a_b.example", None),
        ("2001:db8::1", None),
        ("[203.0.113.9]", None),
        ("[2001:0DB8:0::1]", "[2001:db8::1]"),
        ("[play.example.org]", None),
        ("127.1", None),
        ("münchen.example", None),
        ("a" * 64, None),
        (".".join(["a" * 63] * 4), None),
        ("", None),
        (".", None),
        ("a\n", None),
    ],
)
def test_an_address_is_normalised_or_none(text: str, address: str | None) -> None:
    assert normal_address(text) == address


@given(st.text(max_size=80) | st.from_regex(r"[a-zA-Z0-9.-]{1,40}(:[0-9]{1,6})?", fullmatch=True))
def test_a_normal_address_is_its_own(text: str) -> None:
    address = normal_address(text)
    assert address is None or normal_address(address) == address


@pytest.mark.parametrize(
    ("text", "shown", "key"),
    [
        ("Play.Example.ORG:25565", "play.example.org:25565", "play.example.org"),
        ("München.example:1", "xn--mnchen-3ya.example:1", "xn--mnchen-3ya.example:1"),
        ("[2001:DB8::0001]:25565", "[2001:db8::1]:25565", "[2001:db8::1]"),
    ],
)
def test_an_address_is_shown_as_it_was_named(text: str, shown: str, key: str) -> None:
    address = parse_address(text)
    assert address is not None
    assert (address.text, address.key) == (shown, key)


@pytest.mark.parametrize(
    ("host", "internal"),
    [
        ("play.example.org", False),
        ("localhost", True),
        ("box.lan", True),
        ("plan", True),
        ("my-lan.example.org", False),
        ("127.0.0.2", True),
        ("10.1.2.3", True),
        ("100.64.0.1", True),
        ("169.254.169.254", True),
        ("224.0.0.1", True),
        ("0.0.0.0", True),
        ("8.8.8.8", False),
        ("::1", True),
        ("fe80::1", True),
        ("fd00::1", True),
        ("::ffff:10.0.0.1", True),
        ("2606:4700::1111", False),
    ],
)
def test_hosts_of_our_own_network(host: str, internal: bool) -> None:
    assert is_internal(host) is internal
