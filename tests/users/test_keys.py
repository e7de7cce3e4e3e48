"""The server's own key files: made once, private, never replaced."""

import os
import stat
import threading
import time

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from routes.edge.identity.keys import (
    MASTER_FILE,
    RELEASES_FILE,
    SIGNING_FILE,
    USER_AUDIENCE,
    USER_TYPE,
    KeyFault,
    open_keys,
)
from tests.users.forgeries import RSA


def raw(keys) -> bytes:
    return keys.private_key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())


def test_made_once_and_private(tmp_path):
    keys = open_keys(tmp_path / "data")
    folder = tmp_path / "data" / "keys"
    assert {file.name for file in folder.iterdir()} == {SIGNING_FILE, MASTER_FILE, RELEASES_FILE}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    again = open_keys(tmp_path / "data")
    assert (raw(again), again.sealing_key, again.key_id) == (raw(keys), keys.sealing_key, keys.key_id)
    assert again.releases == keys.releases != keys.master
    assert b"BEGIN PRIVATE KEY" in (folder / SIGNING_FILE).read_bytes()


def test_many_at_once_agree(tmp_path):
    found = []
    begin = threading.Barrier(16)

    def start():
        begin.wait()
        found.append(open_keys(tmp_path))

    threads = [threading.Thread(target=start) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({(raw(keys), keys.master, keys.releases) for keys in found}) == 1
    assert len(found) == 16
    assert len(list((tmp_path / "keys").iterdir())) == 3


def test_a_folder_of_before_is_left_as_it_is(tmp_path):
    """What it has signed releases with is derived, and goes on."""
    open_keys(tmp_path)
    (tmp_path / "keys" / RELEASES_FILE).unlink()
    assert open_keys(tmp_path).releases is None
    assert {file.name for file in (tmp_path / "keys").iterdir()} == {SIGNING_FILE, MASTER_FILE}


def test_purposes_have_unrelated_secrets(tmp_path):
    keys = open_keys(tmp_path)
    secrets = {keys.derive("one"), keys.derive("two"), keys.sealing_key, keys.master}
    assert {len(secret) for secret in secrets} == {32}
    assert len(secrets) == 4


def test_secrets_are_not_shown(tmp_path):
    keys = open_keys(tmp_path)
    assert "master" not in repr(keys)
    assert "private" not in repr(keys)


def test_the_kid_is_the_thumbprint_of_rfc_7638(tmp_path):
    keys = open_keys(tmp_path)
    token = keys.mint_user_token("a" * 36, "Ann", now_ms=0, ttl_seconds=1, random_bytes=os.urandom).token
    assert jwt.get_unverified_header(token) == {"alg": "EdDSA", "typ": "JWT", "kid": keys.key_id}
    assert len(keys.key_id) == 43


RSA_PEM = RSA.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (SIGNING_FILE, b""),
        (SIGNING_FILE, b"x"),
        (SIGNING_FILE, RSA_PEM),
        (MASTER_FILE, b"short"),
        (RELEASES_FILE, b"short"),
    ],
)
def test_a_damaged_file_stops_the_start_with_one_line(tmp_path, name, content):
    open_keys(tmp_path)
    (tmp_path / "keys" / name).write_bytes(content)
    with pytest.raises(KeyFault) as fault:
        open_keys(tmp_path)
    assert name in str(fault.value)
    assert "\n" not in str(fault.value)
    assert (tmp_path / "keys" / name).read_bytes() == content


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(KeyFault):
        open_keys(tmp_path / "file")


def test_a_signature_is_the_keys_own_as_whoever_has_its_public_half_finds(tmp_path):
    keys, others = open_keys(tmp_path / "ours"), open_keys(tmp_path / "theirs")
    token = keys.mint(USER_TYPE, USER_AUDIENCE, {}, now_ms=time.time_ns() // 10**6, ttl_seconds=60).token
    assert keys.has_signed(token)
    assert jwt.decode(token, keys.public_key, algorithms=["EdDSA"], audience=USER_AUDIENCE)
    assert not others.has_signed(token)
    assert not keys.has_signed(token[:-2])
    signed, _, _ = token.rpartition(".")
    assert not keys.has_signed(f"{signed}.")
