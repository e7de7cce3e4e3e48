"""Which addresses may be asked for."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.ip.addresses import public_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("81.2.69.142", "81.2.69.142"),
        ("2A02:CF40:0::1", "2a02:cf40::1"),
        ("::ffff:81.2.69.142", "81.2.69.142"),
        ("10.0.0.1", None),
        ("127.0.0.1", None),
        ("169.254.1.1", None),
        ("192.168.0.1", None),
        ("100.64.0.1", None),
        ("0.0.0.0", None),
        ("255.255.255.255", None),
        ("224.0.0.1", None),
        ("::ffff:10.0.0.1", None),
        ("::ffff:127.0.0.1", None),
        ("::1", None),
        ("fe80::1", None),
        ("fe80::1%eth0", None),
        ("2a02:cf40::1%eth0", None),
        ("fc00::1", None),
        ("ff02::1", None),
        ("2001:db8::1", None),
        ("81.2.69", None),
        ("81.2.69.142.1", None),
        ("081.2.69.142", None),
        ("0x51.2.69.142", None),
        ("1361200526", None),
        ("81.2.69.142 ", None),
        ("81.2.69.142/32", None),
        ("[2a02:cf40::1]", None),
        ("example.org", None),
        ("", None),
        ("1" * 10_000, None),
    ],
)
def test_which_may_be_asked_for(text: str, address: str | None):
    assert public_address(text) == address


@given(st.one_of(st.text(max_size=60), st.ip_addresses().map(str)))
def test_what_passes_is_global_and_canonical(text: str):
    passed = public_address(text)
    if passed is not None:
        assert ip_address(passed).is_global
        assert public_address(passed) == passed
