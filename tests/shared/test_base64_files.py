"""Base64 in pieces decodes what it decodes in one piece, and refuses the same."""

import base64

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors import base64_files
from actors.base64_files import decoded


def whole(text: str) -> bytes | None:
    if len(text) % 4 or "=" in text[:-2]:  # Python takes more of them than there should be
        return None
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError:
        return None


def in_pieces(text: str) -> bytes | None:
    try:
        return decoded(text)
    except ValueError:
        return None


@example("AAAA====", b"")
@example("AAAAA===", b"")
@given(st.text(st.sampled_from("AQgw09+/=-\n é"), max_size=20), st.binary(max_size=16))
def test_pieces_change_nothing(noise: str, data: bytes) -> None:
    encoded = base64.b64encode(data).decode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base64_files, "PIECE_CHARACTERS", 4)
        for text in (noise, encoded, encoded + noise, noise + encoded, encoded[:-1]):
            assert in_pieces(text) == whole(text)


@pytest.mark.parametrize("size", [0, 1, 3, 196_607, 196_608, 196_609])
def test_sizes_around_a_piece(size: int) -> None:
    data = bytes(range(256)) * 768
    assert decoded(base64.b64encode((data + b"x")[:size]).decode()) == (data + b"x")[:size]
