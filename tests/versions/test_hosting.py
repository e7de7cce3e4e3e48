"""Bytes that are put with us are those that the release names, or they do not count."""

import hashlib
from collections.abc import Callable
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from actors.errors import Invalid
from actors.versions.hosting import (
    Named,
    PublisherKeys,
    check_hash,
    check_signature,
    check_size,
    publisher_key,
)

DATA = b"hello"
PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(32))
OTHER = Ed25519PrivateKey.from_private_bytes(b"\x01" * 32)
KEYS = {"ours": PRIVATE.public_key(), "theirs": OTHER.public_key()}
NAMED = Named(5, hashlib.sha256(DATA).digest(), PRIVATE.sign(DATA), "ours")


def check(named: Named, keys: PublisherKeys, data: bytes) -> None:
    check_size(named, len(data))
    check_hash(named, hashlib.sha256(data).digest())
    key = publisher_key(keys, named)
    if key is not None:
        check_signature(key, named, memoryview(data))


@pytest.mark.parametrize(
    ("named", "keys"),
    [(NAMED, KEYS), (replace(NAMED, signature=None), {}), (replace(NAMED, sha256=None), KEYS)],
)
def test_the_right_bytes_are_taken(named: Named, keys: PublisherKeys) -> None:
    check(named, keys, DATA)


@pytest.mark.parametrize(
    ("change", "data", "pointer", "code"),
    [
        (lambda it: it, b"hell", "/sizeBytes", "MISMATCH"),
        (lambda it: it, b"hellO", "/sha256", "MISMATCH"),
        (lambda it: replace(it, sha256=None), b"hellO", "/signature", "MISMATCH"),
        (lambda it: replace(it, key_id="theirs"), DATA, "/signature", "MISMATCH"),
        (lambda it: replace(it, signature=OTHER.sign(DATA)), DATA, "/signature", "MISMATCH"),
        (lambda it: replace(it, signature=b"short"), DATA, "/signature", "MISMATCH"),
        (lambda it: replace(it, signature=None), DATA, "/signature", "REQUIRED"),
        (lambda it: replace(it, key_id=None), DATA, "/keyId", "REQUIRED"),
        (lambda it: replace(it, key_id="gone"), DATA, "/keyId", "UNKNOWN"),
    ],
)
def test_others_are_not(change: Callable[[Named], Named], data: bytes, pointer: str, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        check(change(NAMED), KEYS, data)
    assert [(error.pointer, error.code) for error in refused.value.errors] == [(pointer, code)]
