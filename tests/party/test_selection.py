"""What may be selected, and the hash of what it requires."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.canonical_json import NotCanonical, canonical, digest
from actors.errors import Invalid
from actors.party.selection import Minigame, ProfileRequirement, Selection, checked, requirement_hash

# Of RFC 8785 §3.2.2 and §3.2.3, without its fractions.
VECTORS = [
    ({"literals": [None, True, False]}, '{"literals":[null,true,false]}'),
    ({"string": '€$\u000f\nA\'B"\\\\"/'}, '{"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'),
    (
        {"€": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
         "😀": "Emoji: Grinning Face", "\u0080": "Control", "ö": "Latin Small Letter O With Diaeresis"},
        '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis",'
        '"€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ),
    ({"b": {"d": 1, "c": -0}, "a": []}, '{"a":[],"b":{"c":0,"d":1}}'),
    ("\b\t\n\f\r\u0000\u001f\u007f\u2028", '"\\b\\t\\n\\f\\r\\u0000\\u001f\u007f\u2028"'),
    (2**53 - 1, "9007199254740991"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), VECTORS)
def test_the_digest_is_of_the_canonical_text(value: object, text: str):
    assert canonical(value) == text
    assert digest(value) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "value", [0.5, 1e300, 2**53, -(2**53), "\ud800", {1: 2}, {"a": {"\udfff": 1}}, object()]
)
def test_what_has_no_canonical_form(value: object):
    with pytest.raises(NotCanonical):
        canonical(value)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(VALUES)
def test_canonical_text_means_the_same(value: object):
    text = canonical(value)
    assert json.loads(text) == value
    assert canonical(json.loads(text)) == text


def test_the_hash_of_a_requirement():
    empty = (
        '{"loader":null,"minecraftVersion":null,"recommendedProfileId":null,"recommendedProfileName":null,'
        '"recommendedProfileShareCode":null,"requiredMods":[]}'
    )
    assert requirement_hash(ProfileRequirement()) == hashlib.sha256(empty.encode()).hexdigest()
    kept, hash_ = checked(Selection("minigame", "x", "X"))
    assert (kept.profile_requirement, hash_) == (ProfileRequirement(), requirement_hash(ProfileRequirement()))
    one = requirement_hash(ProfileRequirement(required_mods=({"id": "a", "version": 1},)))
    assert one == requirement_hash(ProfileRequirement(required_mods=({"version": 1, "id": "a"},)))
    assert one != requirement_hash(ProfileRequirement(required_mods=({"version": 2, "id": "a"},)))


@pytest.mark.parametrize(
    "address",
    [
        "a",
        "play.example.org",
        "play.example.org.",
        "10.0.0.1:1",
        "h:65535",
        "[::1]",
        "[2001:db8::1]:25565",
        "A-b.C",
    ],
)
def test_an_address_of_a_server_may_be_chosen(address: str):
    kept, _ = checked(Selection("server", "x", "X", server_address=address))
    assert kept.server_address == address


@pytest.mark.parametrize(
    "address",
    [
        "", " ", "http://a", "javascript:alert(1)", "a:0", "a:65536", "a:", ":1", "a b", "a/b", "a@b", "a?b", "-a",
        "a-", "a..b", "[::1", "::1", "a:1:2", "a\n", "file:///etc/passwd", "ä.de",
        f"{'a' * 64}.de", ".".join(["a" * 49] * 6),
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_server_is_refused(address: str):
    with pytest.raises(Invalid) as refused:
        checked(Selection("server", "x", "X", server_address=address))
    assert [error.pointer for error in refused.value.errors] == ["/serverAddress"]


LEAPING = "a\u202eb"


@pytest.mark.parametrize(
    ("selection", "pointer"),
    [
        (Selection("a\nb", "x", "X"), "/targetKind"),
        (Selection("server", "a\x1bb", "X"), "/targetId"),
        (Selection("server", "x", LEAPING), "/displayName"),
        (Selection("server", "x", "X", minigame=Minigame(mode=LEAPING)), "/minigame/mode"),
        (Selection("server", "x", "X", minigame=Minigame(variant="\t")), "/minigame/variant"),
        *(
            (
                Selection("server", "x", "X", profile_requirement=ProfileRequirement(**{field: LEAPING})),
                f"/profileRequirement/{pointer}",
            )
            for field, pointer in (
                ("minecraft_version", "minecraftVersion"),
                ("loader", "loader"),
                ("recommended_profile_id", "recommendedProfileId"),
                ("recommended_profile_name", "recommendedProfileName"),
                ("recommended_profile_share_code", "recommendedProfileShareCode"),
            )
        ),
    ],
)
def test_texts_stand_within_a_line(selection: Selection, pointer: str):
    with pytest.raises(Invalid) as refused:
        checked(selection)
    assert [(error.pointer, error.code) for error in refused.value.errors] == [(pointer, "BAD_TEXT")]


def test_texts_that_may_be_left_out_may_be_empty():
    asked = ProfileRequirement(loader="", recommended_profile_name="\U0001f469\u200d\U0001f680")
    kept, _ = checked(Selection("server", "x", "X", minigame=Minigame(mode=""), profile_requirement=asked))
    assert kept.profile_requirement == asked


def test_what_is_required_and_what_is_too_much():
    blank = Selection(" ", "\t", "", profile_requirement=ProfileRequirement(required_mods=("m" * 40_000,)))
    with pytest.raises(Invalid) as refused:
        checked(blank)
    pointers = [error.pointer for error in refused.value.errors]
    assert pointers == ["/targetKind", "/targetId", "/displayName", "/profileRequirement/requiredMods"]
    with pytest.raises(Invalid):
        checked(Selection("a", "b", "c", profile_requirement=ProfileRequirement(required_mods=(0.5,))))
