"""The rule of texts: what may stand in a line, what in several, and what each flaw is called."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import Invalid
from actors.field_errors import FieldError
from actors.texts import (
    LINE_SENTENCE,
    SENTENCE,
    is_line,
    is_text,
    line,
    line_flaws,
    lines,
    lines_flaws,
    with_line_feeds,
    without_controls,
    without_joiners,
)

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"

REQUIRED = ("REQUIRED", "1 to 100 characters")
TOO_LONG = ("TOO_LONG", "at most 100 characters")
NO_LINE = ("BAD_TEXT", LINE_SENTENCE)
NO_TEXT = ("BAD_TEXT", SENTENCE)

# (a text, what is wrong with it as a line of 100 characters, what as a text of any number of lines)
TABLE = [
    *(
        (text, None, None)
        for text in (
            "hello",
            "größe",
            "日本語",
            "שלום",
            "می\u200cخواهم",
            "a\u200fb",
            FAMILY,
            ENGLAND,
            "x" * 100,
            " ",
        )
    ),
    ("", REQUIRED, None),
    ("x" * 101, TOO_LONG, TOO_LONG),
    ("\x1b" * 101, TOO_LONG, TOO_LONG),
    ("a\nb", NO_LINE, None),
    ("a\tb", NO_LINE, None),
    ("a\u2028b", NO_LINE, None),
    ("\u202egnp.exe", NO_LINE, None),
    ("\u2066x", NO_LINE, None),
    ("\u200d", NO_LINE, None),
    ("\ue000", NO_LINE, None),
    *((f"a{control}b", NO_LINE, NO_TEXT) for control in "\x00\x01\x08\x0b\x1b\x1f\x7f\x85\x9b\x9f"),
]


def flaw_of(check: Callable[[str, str, int], str], text: str) -> tuple[str, str] | None:
    """What a text is refused with, at its pointer."""
    try:
        assert check(text, "/name", 100) == text
    except Invalid as refused:
        (error,) = refused.errors
        assert error.pointer == "/name"
        return error.code, error.message
    return None


@pytest.mark.parametrize(("text", "of_line", "of_lines"), TABLE)
def test_the_flaw_of_a_text_is_that_of_the_table(
    text: str, of_line: tuple[str, str] | None, of_lines: tuple[str, str] | None
):
    assert flaw_of(line, text) == of_line
    assert flaw_of(lines, text) == of_lines


@pytest.mark.parametrize(("text", "of_line", "of_lines"), TABLE)
def test_who_gathers_flaws_finds_the_same(
    text: str, of_line: tuple[str, str] | None, of_lines: tuple[str, str] | None
):
    assert line_flaws(text, "/a", 100) == [FieldError("/a", *flaw) for flaw in (of_line,) if flaw]
    assert lines_flaws(text, "/a", 100) == [FieldError("/a", *flaw) for flaw in (of_lines,) if flaw]


def test_a_text_may_be_required():
    assert lines_flaws("", "/a", 100, required=True) == [FieldError("/a", *REQUIRED)]
    assert lines_flaws("x", "/a", 100, required=True) == []


def test_line_breaks_are_kept_as_line_feeds_and_counted_so():
    assert lines("a\r\nb\rc\nd", "/a", 7) == "a\nb\nc\nd"
    with pytest.raises(Invalid):
        lines("a\r\nb\rc\nd", "/a", 6)


@given(st.text())
def test_a_text_has_no_control_characters_but_line_feeds_and_tabs(text: str):
    wrong = any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in text)
    assert is_text(text) is not wrong


@given(st.text())
def test_a_line_is_a_text(text: str):
    assert is_text(text) or not is_line(text)


@given(st.text())
def test_line_breaks_of_every_system_become_one(text: str):
    assert "\r" not in with_line_feeds(text)
    assert with_line_feeds(with_line_feeds(text)) == with_line_feeds(text)
    assert with_line_feeds("a\r\nb\rc\nd") == "a\nb\nc\nd"


def test_without_joiners_two_names_that_look_the_same_are():
    assert without_joiners("B\u200do\u200eb") == "Bob"
    assert without_joiners("größe 日本語") == "größe 日本語"


@given(st.text())
def test_without_its_control_characters_any_text_passes(text: str):
    assert is_text(without_controls(text))
    if is_text(text):
        assert without_controls(text) == text


def test_what_is_left_without_control_characters():
    assert without_controls(f"\x1b[31mred\x07\r\n{FAMILY}\tblue\x85") == f"[31mred\n{FAMILY}\tblue"
