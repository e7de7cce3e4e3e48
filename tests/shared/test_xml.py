"""XML is escaped so that a parser reads what was written, whatever people wrote."""

import xml.etree.ElementTree as etree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.xml import Markup, attributes, document, element, text

ANY_TEXT = st.text(st.characters())
"""Surrogates and control characters among them."""


def read(root: Markup) -> etree.Element:
    return etree.fromstring(document(root))  # made here


def carried(value: str) -> str:
    """What XML 1.0 can carry of a text (section 2.2)."""
    return "".join(
        c
        for c in value
        if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c >= "\U00010000"
    )


@pytest.mark.parametrize(
    ("given_text", "written"),
    [
        ("plain", "plain"),
        ("a & b < c > d", "a &#x26; b &#x3C; c &gt; d"),
        ("&lt;&amp;", "&#x26;lt;&#x26;amp;"),
        ("]]>", "]]&gt;"),
        ("a\x00b\x0bc\x1bd\ufffee\uffff", "abcde"),
        ("\ud800", ""),
        ("a\r\nb", "a&#xD;\nb"),
        ("\U0001f600", "\U0001f600"),
    ],
)
def test_text_is_escaped_with_hexadecimal_references(given_text: str, written: str) -> None:
    assert text(given_text) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain", ' a="plain"'),
        ('"', " a='\"'"),
        ("\"'", ' a="&quot;\'"'),
        ("&<>\n\t", ' a="&#x26;&#x3C;&gt;&#10;&#9;"'),
    ],
)
def test_attributes_are_quoted(value: str, written: str) -> None:
    assert attributes({"a": value}) == written


def test_elements_nest_and_are_empty_without_content() -> None:
    markup = element("a", text("x"), element("b:c", with_={"d": "1"}), with_={"xmlns:b": "urn:b"})
    assert markup == '<a xmlns:b="urn:b">x<b:c d="1"/></a>'
    assert document(markup).startswith(b'<?xml version="1.0" encoding="UTF-8"?>\n<a')


@pytest.mark.parametrize("name", ["", "a b", "a>", "1a", "a:b:c", "a\n", ":a", "é"])
def test_names_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no XML name"):
        element(name)
    with pytest.raises(ValueError, match="no XML name"):
        attributes({name: ""})


@given(ANY_TEXT, ANY_TEXT)
def test_a_parser_reads_what_was_written(content: str, value: str) -> None:
    found = read(element("a", text(content), with_={"b": value}))
    assert (found.text or "") == carried(content)
    assert found.get("b") == carried(value)
