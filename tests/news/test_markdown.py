"""Markdown becomes HTML that can be shown anywhere, at a cost that its length bounds."""

import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import Invalid
from actors.news.markdown import BODY_MAX_BYTES, HTML_MAX_BYTES, MOST_OF, TAGS, checked, render
from tests.support.cost import yardsticks

ON_LINKS = 'rel="nofollow noopener noreferrer"'
RENDER_YARDSTICKS = 40
"""What one article may take. The worst known one takes 19 to 22 on an idle machine (25 are 0.25 s), and a third more
where other processes fill the caches, which the yardstick does not need; what grows with the square takes hundreds."""


@pytest.mark.parametrize(
    ("body", "html"),
    [
        ("a *b* **c** `d`", "<p>a <em>b</em> <strong>c</strong> <code>d</code></p>\n"),
        ("# a\n###### b\n\nc\n===", "<h2>a</h2>\n<h6>b</h6>\n<h2>c</h2>\n"),
        ("- a\n- b\n\n1. c", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<ol>\n<li>c</li>\n</ol>\n"),
        ("> a\n\n---", "<blockquote>\n<p>a</p>\n</blockquote>\n<hr>\n"),
        ("```py\na < b\n```", "<pre><code>a &lt; b\n</code></pre>\n"),
        ("[a](https://b.c/d?e=f&g)", f'<p><a href="https://b.c/d?e=f&amp;g" {ON_LINKS}>a</a></p>\n'),
        ("[a](https://b.c 'd')", f'<p><a href="https://b.c" title="d" {ON_LINKS}>a</a></p>\n'),
        ("<https://b.c>", f'<p><a href="https://b.c" {ON_LINKS}>https://b.c</a></p>\n'),
        ("[a](mailto:b@c.d)", f'<p><a href="mailto:b@c.d" {ON_LINKS}>a</a></p>\n'),
        ("~~a~~ ~b~ https://b.c", "<p><s>a</s> ~b~ https://b.c</p>\n"),
        (
            "|a|b|\n|-|:-|\n|c|d|",
            "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n"
            "<tbody>\n<tr>\n<td>c</td>\n<td>d</td>\n</tr>\n</tbody>\n</table>\n",
        ),
    ],
)  # fmt: skip
def test_what_authors_write(body: str, html: str) -> None:
    assert checked(body, "/body") == []
    assert render(body, "/body") == html


def test_images_are_lazy_and_tell_nothing() -> None:
    html = render("![a](https://b.c/d.png 'e')", "/body")
    assert set(re.findall(r'\w+="[^"]*"', html)) == {
        'src="https://b.c/d.png"', 'alt="a"', 'title="e"', 'loading="lazy"', 'referrerpolicy="no-referrer"',
    }  # fmt: skip


ATTACKS = (
    "<script>alert(1)</script>",
    "<SCRIPT SRC=https://evil.example/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    "<img src='https://e.example/a.png' onload=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<math><mi//xlink:href='data:x,<script>alert(4)</script>'>",
    "<style>*{background:url(https://evil.example)}</style>",
    "<p style='background:url(https://evil.example)'>a</p>",
    "<a id=body name=cookie>a</a>",
    "<iframe src=https://evil.example></iframe>",
    "<object data=https://evil.example></object>",
    "<form action=https://evil.example><button>a</button></form>",
    "<base href=https://evil.example/>",
    "<meta http-equiv=refresh content='0;https://evil.example'>",
    "<link rel=stylesheet href=https://evil.example>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<!--<img src='--><img src=x onerror=alert(1)//'>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?php echo 1 ?>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](java\tscript:alert(1))",
    "[a](java&#10;script:alert(1))",
    "[a](javascript&colon;alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](&#x6A;avascript:alert(1))",
    "[a](\\javascript:alert(1))",
    "[a](<javascript:alert(1)>)",
    "[a]( javascript:alert(1))",
    "[a](\x01javascript:alert(1))",
    "[a](vbscript:msgbox(1))",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "[a](file:///etc/passwd)",
    "[a](//evil.example)",
    "[a](/v1/auth/revoke)",
    "[a](#top)",
    "[a](http://evil.example)",
    "[a](https:evil.example)",
    "[a](https:///evil.example)",
    "[a](https://user:password@evil.example)",
    "[a](https://e.example\\@evil.example)",
    "[a](ftp://evil.example)",
    "<javascript:alert(1)>",
    "<data:text/html,<script>alert(1)</script>>",
    "![a](javascript:alert(1))",
    "![a](data:image/svg+xml;base64,PHN2Zz4=)",
    "![a](data:image/png;base64,AAAA)",
    "![a](//evil.example/a.png)",
    "![a](http://evil.example/a.png)",
    "![a](mailto:a@b.c)",
    "![a](/a.png)",
    "![a](https://user@evil.example/a.png)",
    "[a][b]\n\n[b]: javascript:alert(1)",
    "![a][b]\n\n[b]: data:text/html,a",
    '[a](https://e.example "\\" onmouseover=alert(1) x=\\"")',
    '![\\" onerror=alert(1) x=\\"](https://e.example/a.png)',
    "```\"><script>alert(1)</script>\na\n```",
    "```js onload=alert(1)\na\n```",
    "`<script>alert(1)</script>`",
    "# <script>alert(1)</script> {#id .class onclick=a}",
    "|<script>|\n|:-:|\n|<img src=x onerror=alert(1)>|",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "\\<script>alert(1)</script>",
    "[a](https://e.example/<script>alert(1)</script>)",
    "[a](https://e.example/%0d%0aSet-Cookie:a)",
    "\u202e\u2066<script>\u2069",
)  # fmt: skip


class Reader(HTMLParser):
    """Whatever a browser would find in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def handle_comment(self, data: str) -> None:
        self.found.append(("comment", {}))

    def handle_decl(self, decl: str) -> None:
        self.found.append(("declaration", {}))

    def unknown_decl(self, data: str) -> None:
        self.found.append(("declaration", {}))

    def handle_pi(self, data: str) -> None:
        self.found.append(("instruction", {}))


def check_harmless(html: str) -> None:
    for tag, attributes in Reader(html).found:
        assert tag in TAGS, html
        allowed = {"a": {"href", "title", "rel"}, "img": {"src", "alt", "title", "loading", "referrerpolicy"}}
        assert attributes.keys() <= allowed.get(tag, set()), html
        if tag == "a":
            target = attributes.get("href", "https://").lower()
            assert target.startswith(("https://", "mailto:")), html
            assert "@" not in target.removeprefix("mailto:").split("?")[0] or target.startswith("mailto:"), (
                html
            )
            assert attributes["rel"] == "nofollow noopener noreferrer"
        if tag == "img":
            assert attributes.get("src", "https://").lower().startswith("https://"), html
            assert (attributes["loading"], attributes["referrerpolicy"]) == ("lazy", "no-referrer")


@pytest.mark.parametrize("body", ATTACKS)
def test_attacks_are_refused_or_rendered_harmless(body: str) -> None:
    for text in (body, f"> - {body}", f"a {body} b", body.upper()):
        if not checked(text, "/body"):
            check_harmless(render(text, "/body"))


PIECES = (
    *"[]()!<>\"'`*_~|-#\\\n&;: a@",
    *("https://e.example", "javascript:", "data:", "script", "img", "src=", "onerror=", "&#x6A;", "//"),
)
MARKS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@given(MARKS)
def test_no_mixture_is_harmful(body: str) -> None:
    check_harmless(render(body, "/body"))


def filled(piece: str) -> str:
    """As much of it as an article may have."""
    text = (piece * (BODY_MAX_BYTES // len(piece.encode()) + 1))[:BODY_MAX_BYTES]
    for character, most in MOST_OF.items():
        places = [place for place, one in enumerate(text) if one == character]
        if len(places) > most:
            text = text[: places[most]]
    return text.encode()[:BODY_MAX_BYTES].decode(errors="ignore")


TABLE = "|".join("a" * 10) + "\n" + "|".join("-" * 10) + "\n" + "a\n" * 440 + "\n"
FILLERS = (
    "[", "![", "[a](", "[a](<", '[a]("', "[`", "[*", "](", "**a *a ", "*_", "a**b", "_a ", "`a``b```c", "> ", ">",
    "- ", "1. ", "* * * a\n",
    "~~a ~~", "a~~b", "~ ~~ ", "*~~a _",
    "|a", "a|b\n-|-\n\n", "<a", "<a@b.c>", "<https://a>", "&", "&amp;", "\\", "\\\n", "a\n",
    "# a\n", "- a\n", "a\n\n- b\n\n", "    a\n", "~~~\n", "=\n", "a  \n", "[a]:b\n\n", "<!--", "<?", "é", "'\"",
)  # fmt: skip
"""A body may be full of one of these."""

BOMBS = {
    "ticks": " ".join("`" * many for many in range(1, 255)),
    "quotes": "\n".join(">" * many + " a" for many in range(1, 250)),
    "lists": "\n".join(" " * many + "- a" for many in range(1, 250)),
    "references": "[a]: https://b.c\n\n" + "[a]" * 998,
    "long titles of references": f"[a]: https://b.c '{'&' * 28_000}'\n\n" + "[a]" * 990,
    "long addresses of references": f"[a]: https://b.c/{'é' * 10_000}\n\n" + "![a]" * 990,
    "brackets": "[" * 1000 + "]" * 1000 + "(" * 20_000,
    "stars in images": "![" * 1000 + "*a **" * 1300,
    "images that nothing closes": "![" * 1000 + "!" * 30_000,
    "brackets around much": "[" * 1000 + "&" * 30_000 + "]" * 1000,
    "a table": TABLE,
    "all": TABLE + "*a **" * 1200 + "~~a ~~" * 1000 + "![" * 1000 + "- <a@b.c> _b_\n" * 1200,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FILLERS, *BOMBS])
def test_nothing_that_is_accepted_takes_long(name: str) -> None:
    body = BOMBS.get(name) or filled(name)
    if checked(body, "/body"):
        return
    began = time.thread_time()
    tried(body)
    if time.thread_time() - began > RENDER_YARDSTICKS / 100:
        assert yardsticks(lambda: tried(body)) <= RENDER_YARDSTICKS


def tried(body: str) -> None:
    try:
        assert len(render(body, "/body").encode()) <= HTML_MAX_BYTES
    except Invalid as refused:
        assert [error.code for error in refused.errors] == ["TOO_LONG"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("a" * BODY_MAX_BYTES, None),
        ("a" * (BODY_MAX_BYTES + 1), "TOO_LONG"),
        ("é" * (BODY_MAX_BYTES // 2 + 1), "TOO_LONG"),
        ("[" * 1_000, None),
        ("[" * 1_001, "TOO_MANY"),
        ("a\n" * 2_001, "TOO_MANY"),
        ("|" * 200 + "\n" + "|-" * 200 + "\n" + "a\n" * 100, "TOO_MANY"),
        ("|" * 40 + "\n\n" + "a\n" * 1_000, None),
        (TABLE * 2, "TOO_MANY"),
    ],
)
def test_what_is_counted_before_it_is_parsed(body: str, code: str | None) -> None:
    assert [error.code for error in checked(body, "/body")] == ([] if code is None else [code])


def test_as_many_links_as_an_article_may_have() -> None:
    body = "![b](https://c.d/e.png) [f `]` g](https://h.i) - \\] " * 500
    html = render(body, "/body")
    assert html.count("<img ") == html.count("<a ") == 500


def test_html_that_is_too_long_is_refused() -> None:
    with pytest.raises(Invalid, match="once it is rendered"):
        render("<a@b.c>" * 4_000, "/body")
