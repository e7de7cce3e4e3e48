"""Claim keys: their form, and how people type them."""

import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.connect.claim_keys import ALPHABET, new_claim_key, parse_claim_key


@given(st.randoms(use_true_random=False))
def test_a_key_is_read_as_it_was_shown(random: object):
    key = new_claim_key(random.randbytes)  # type: ignore[attr-defined]
    assert set(key) <= {*ALPHABET, "-"}
    assert parse_claim_key(key) == key
    assert parse_claim_key(f"  {key.lower().replace('-', '')} ") == key
    assert parse_claim_key(key.replace("1", "l").replace("0", "O")) == key


@given(st.text(max_size=40))
def test_nothing_breaks_the_reader(text: str):
    parsed = parse_claim_key(text)
    assert parsed is None or parse_claim_key(parsed) == parsed


@pytest.mark.parametrize("text", ["", "AAAAA", "U" * 20, "ß" * 10, "AAAAA-AAAAA-AAAAA-AAAAAA"])
def test_what_is_no_key(text: str):
    assert parse_claim_key(text) is None


def test_a_thousand_claim_keys_all_differ():
    assert len({new_claim_key(secrets.token_bytes) for _ in range(1_000)}) == 1_000
