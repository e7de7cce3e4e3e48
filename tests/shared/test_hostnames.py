"""Names of hosts in one form, and which of them may be claimed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import Invalid
from actors.hostnames import inside, is_address, is_public_suffix, normal_host
from actors.networks.units_claims import claimable

ZONES = {"play.partyline.net", "gw.partyline.net"}

REFUSED = [
    "", " ", ".", "..", "com", "co.uk", "github.io", "localhost", "*.example.com", "*", "_dmarc.example.com",
    "127.0.0.1", "[::1]", "::1", "fe80::1%eth0", "127.1", "0x7f.1", "example.0x7f", "1.2.3", "2130706433",
    "a..b.com", "-a.com", "a-.com", "exa mple.com", "example.com/", "example.com:80", "http://example.com",
    "user@example.com", "exam\nple.com", "exam\x00ple.com", f"{'a' * 64}.com", ".".join(["a" * 60] * 5),
    "a" * 1000, "play.partyline.net", "x.play.partyline.net", "partyline.net", "gw.partyline.net",
    "ex\u200bample..com", "\ud800.com", "xn--a.com", "１２７.０.０.１",
]  # fmt: skip

NORMAL = {
    "Example.COM": "example.com",
    "example.com.": "example.com",
    "bücher.de": "xn--bcher-kva.de",
    "BÜCHER.DE": "xn--bcher-kva.de",
    "xn--bcher-kva.de": "xn--bcher-kva.de",
    "straße.de": "xn--strae-oqa.de",
    "例え。テスト": "xn--r8jz45g.xn--zckzah",
    "ｅｘａｍｐｌｅ.com": "example.com",
    "me.github.io": "me.github.io",
    "a.b.c.example.co.uk": "a.b.c.example.co.uk",
    "notplay.partyline.network": "notplay.partyline.network",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_claimed(text: str):
    with pytest.raises(Invalid):
        claimable(text, ZONES)


@pytest.mark.parametrize(("text", "name"), NORMAL.items())
def test_a_domain_has_one_form(text: str, name: str):
    assert claimable(text, ZONES) == name
    assert normal_host(name) == name


@given(st.text(max_size=60))
def test_any_text_is_a_name_or_not(text: str):
    """Never anything else; and a name in its form stays as it is."""
    name = normal_host(text)
    if name is not None:
        assert normal_host(name) == name
        assert name.isascii()
        assert name == name.lower()


@given(st.ip_addresses())
def test_addresses_are_no_names(address: object):
    assert is_address(str(address))
    assert normal_host(str(address)) is None


def test_a_name_is_inside_a_domain_by_whole_labels():
    assert inside("a.example.com", "example.com")
    assert inside("example.com", "example.com")
    assert not inside("badexample.com", "example.com")
    assert not inside("example.com", "a.example.com")


def test_public_suffixes_come_with_the_library():
    assert is_public_suffix("co.uk")
    assert is_public_suffix("xn--p1ai")
    assert not is_public_suffix("example.co.uk")
    assert not is_public_suffix("anything.test")
