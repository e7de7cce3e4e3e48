"""Articles in Markdown, rendered to HTML that is safe to show in a launcher's or browser's page (contract §10).

Two walls, each of which would do alone: the parser knows no HTML and no addresses but https and mailto, and what it
writes is sanitised by a parser of HTML with lists of its own. What is expensive to parse is counted before it is
parsed, so that nothing that is accepted takes a quarter of a second; a test tries the bombs that are known.
"""

import re
from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace

import nh3
from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkDestination, parseLinkTitle
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from actors.errors import Invalid
from actors.field_errors import FieldError

BODY_MAX_BYTES = 32 * 1024
"""Most bytes of an article's text in UTF-8 (contract §10)."""

HTML_MAX_BYTES = 256 * 1024
"""Most bytes of an article's HTML, both before and after it is sanitised."""

MOST_OF = {"[": 1_000, "\n": 2_000, "*": 4_000, "_": 4_000, "|": 4_000, "~": 4_000, "<": 2_000}
"""{character: how often it may stand in an article}: those that cost the most, or are looked for again and again."""

CELLS_MAX = 5_000
"""The most cells of all tables together. The parser fills up short rows, so a wide head makes each line after it
costly."""

MAX_NESTING = 20
"""How deep quotes, lists and brackets may lie in each other; deeper ones stand as text."""

LABEL_STEPS = 100_000
"""How many steps the parser takes in all in search of the brackets that close others. It begins anew at each level of
brackets, so that a few that nothing closes cost twenty times the text behind them; what is behind the last step stands
as text. Closed brackets cost what is between them, so an article of links alone takes a third of it."""

TAGS = frozenset(
    {
        "p",
        "br",
        "hr",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "strong",
        "em",
        "s",
        "code",
        "pre",
        "blockquote",
        "ul",
        "ol",
        "li",
    }
    | {"a", "img", "table", "thead", "tbody", "tr", "th", "td"}
)
"""The elements that an article may have."""

ATTRIBUTES = {"a": {"href", "title"}, "img": {"src", "alt", "title"}}
"""{element: the attributes that authors may write}."""

_RELATION = "nofollow noopener noreferrer"
_ON_IMAGES = {"loading": "lazy", "referrerpolicy": "no-referrer"}
"""Attributes of every image: it is not fetched before it is seen, and its host is not told which page shows it."""

_STEPS = "label steps"
"""The key under which the parser's environment of one article has the number of those taken."""

_IMAGE = re.compile(r"https://[^\s/?#@\\]+(?:[/?#]\S*)?", re.IGNORECASE)
_LINK = re.compile(r"(?:https://[^\s/?#@\\]+(?:[/?#]\S*)?|mailto:[^\s/?#\\]+(?:\?\S*)?)", re.IGNORECASE)


def checked(body: str, pointer: str) -> list[FieldError]:
    """Check an article's text without parsing it, in linear time; returns one error a flaw.

    Args:
        body: Markdown, with line feeds for line breaks.
        pointer: the JSON pointer to its field.
    """
    if len(body) > BODY_MAX_BYTES or len(body.encode("utf-8", "surrogatepass")) > BODY_MAX_BYTES:
        return [FieldError(pointer, "TOO_LONG", f"at most {BODY_MAX_BYTES} bytes of UTF-8")]
    errors = [
        FieldError(pointer, "TOO_MANY", f"at most {most} times {character!r}")
        for character, most in MOST_OF.items()
        if body.count(character) > most
    ]
    if not errors and _cells(body) > CELLS_MAX:
        errors.append(FieldError(pointer, "TOO_MANY", f"at most {CELLS_MAX} cells in tables"))
    return errors


def render(body: str, pointer: str) -> str:
    """The HTML of an article: takes up to a quarter of a second, so it belongs into a worker thread.

    Args:
        body: Markdown that `checked` has found nothing wrong with.
        pointer: the JSON pointer to its field.

    Raises:
        Invalid: the HTML is too long.
    """
    parser, definitions = _parser(), dict[str, object]()
    tokens = parser.parse(body, definitions)
    # One definition of a link may be used a thousand times, so what it says is counted before it is written.
    if _characters_of_links(tokens) > HTML_MAX_BYTES:
        raise _too_long(pointer)
    html: str = parser.renderer.render(tokens, parser.options, definitions)
    if len(html) > HTML_MAX_BYTES:
        raise _too_long(pointer)
    html = _sanitised(html)
    if len(html.encode()) > HTML_MAX_BYTES:
        raise _too_long(pointer)
    return html


def _too_long(pointer: str) -> Invalid:
    return Invalid(FieldError(pointer, "TOO_LONG", f"at most {HTML_MAX_BYTES} bytes once it is rendered"))


def _characters_of_links(tokens: Sequence[Token]) -> int:
    """How many characters the addresses and titles of all links and images have, before they are escaped."""
    inline = (one for token in tokens for one in token.children or ())
    return sum(len(str(value)) for one in inline for value in one.attrs.values())


def _cells(body: str) -> int:
    """An upper bound of the cells that the tables have: a table ends with an empty line at the latest."""
    cells = widest = rows = 0
    for line in [*body.split("\n"), ""]:
        if line.strip():
            rows += 1
            widest = max(widest, line.count("|"))
        else:
            cells += rows * (widest + 1) if widest else 0
            widest = rows = 0
    return cells


@cache
def _parser() -> MarkdownIt:
    """One for all texts: it keeps nothing of them, and is a hundred objects that only the collector frees."""
    parser = MarkdownIt("js-default", {"maxNesting": MAX_NESTING})
    # It looks its helpers up in this namespace, which is a module unless somebody replaces it.
    parser.helpers = SimpleNamespace(  # type: ignore[assignment]
        parseLinkLabel=_label_end, parseLinkDestination=parseLinkDestination, parseLinkTitle=parseLinkTitle
    )
    parser.validateLink = _is_link  # type: ignore[method-assign]
    parser.core.ruler.push("headings one down", _lower_headings)
    return parser


def _label_end(state: StateInline, start: int, disableNested: bool = False) -> int:
    """Where the label ends whose `[` is at `start`; -1 where it does not end, or the article's `LABEL_STEPS` are used
    up. Else as the parser's own `parseLinkLabel`."""
    before, end, level = state.pos, -1, 1
    state.pos = start + 1
    while state.pos < state.posMax:
        steps = state.env[_STEPS] = state.env.get(_STEPS, 0) + 1
        if steps > LABEL_STEPS:
            break
        at, marker = state.pos, state.src[state.pos]
        if marker == "]":
            level -= 1
            if not level:
                end = at
                break
        state.md.inline.skipToken(state)
        if marker == "[":
            if state.pos == at + 1:  # a bracket that begins nothing
                level += 1
            elif disableNested:
                break
    state.pos = before
    return end


def _is_link(url: str) -> bool:
    return _LINK.fullmatch(url) is not None


def _lower_headings(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1:]) + 1, 6)}"


def _sanitised(html: str) -> str:
    return nh3.clean(
        html,
        tags=set(TAGS),
        clean_content_tags={"script", "style"},
        attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
        attribute_filter=_filtered,
        strip_comments=True,
        link_rel=_RELATION,
        generic_attribute_prefixes=set(),
        set_tag_attribute_values={"img": dict(_ON_IMAGES)},
        url_schemes={"https", "mailto"},
    )


def _filtered(_tag: str, attribute: str, value: str) -> str | None:
    # The list of schemes alone lets addresses without one pass, such as `//host`.
    if attribute == "src":
        return value if _IMAGE.fullmatch(value) else None
    if attribute == "href":
        return value if _LINK.fullmatch(value) else None
    return value
