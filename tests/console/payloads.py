"""What attackers write into every field that others see, and people as well: 60 texts."""

from collections.abc import Callable, Sequence

from actors.texts import is_line

PAYLOADS: Sequence[str] = (
    # Markup, with everything that runs code when it is drawn.
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<svg/onload=alert(1)>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<svg><use href='data:image/svg+xml,<svg id=x onload=alert(1)>#x'>",
    '"><iframe src=javascript:alert(1)>',
    "'><iframe srcdoc='<script>alert(1)</script>'>",
    "<math><mi xlink:href=javascript:alert(1)>x",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<body onload=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<object data=javascript:alert(1)>",
    "<embed src=javascript:alert(1)>",
    "<a href=//evil.example>x</a>",
    "<a href=javascript:alert(1)>x</a>",
    "<form action=//evil.example><button>go",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<base href=//evil.example>",
    "<link rel=stylesheet href=//evil.example>",
    "<style>*{display:none}</style>",
    "<template><img src=x onerror=alert(1)></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<!--<script>-->",
    "<![CDATA[<img src=x onerror=alert(1)>]]>",
    "</title></textarea></script><img src=x onerror=alert(1)>",
    "<dialog open>signed out</dialog>",
    # Attributes, handlers and addresses, out of whatever they stand in.
    '" onmouseover=alert(1) x="',
    "' autofocus onfocus=alert(1) '",
    "` onerror=alert(1)",
    "javascript:alert(1)",
    "JaVaScRiPt&colon;alert(1)",
    "java\tscript:alert(1)",
    "[x](javascript:alert(1))",
    "![drawn elsewhere](https://example.org/x.png)",
    "**<b onmouseover=alert(1)>x</b>**",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "//evil.example/x",
    'https://example.org/"onmouseover=alert(1)//',
    # Templates, JSON, CSS, queries, tables.
    "${alert(1)} #{alert(1)} <%= alert(1) %>",
    "{{constructor.constructor('alert(1)')()}}",
    "\\u003cimg src=x onerror=alert(1)\\u003e",
    '"},"isAdmin":true,"x":{"y":"',
    "</script><script>alert(1)//",
    "red;}*{background:url(//evil.example)}",
    "expression(alert(1))",
    "__proto__ constructor toString",
    "'; DROP TABLE users; --",
    '=HYPERLINK("https://example.org","x")',
    "+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd",
    "&lt;b&gt; &#60;b&#62; &#x3c;b&#x3e;",
    # Letters that are not what they seem.
    "\u202egnirts desrever\u202c",
    "\u2066isolated\u2069 \u200f\u05d0\u05d1\u05d2",
    "zero\u200bwidth\u200djoined\ufeff",
    "Z\u0351\u036b\u0343\u0312\u036a" * 12,
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \ufdfd \U0001d54f",
    "W" * 200,
)

TRUSTED_LINK = "https://example.org/"
"""The only addresses that any text may become a link to."""


def packed(most_characters: int, passes: Callable[[str], bool] = is_line) -> list[str]:
    """All payloads that the service takes in a field, in as few texts as they fit into.

    Args:
        most_characters: of the field; what is longer is cut.
        passes: the rule of the field.
    """
    texts: list[str] = []
    for payload in (
        payload[:most_characters].strip() for payload in PAYLOADS if passes(payload[:most_characters].strip())
    ):
        if texts and len(texts[-1]) + 1 + len(payload) <= most_characters:
            texts[-1] += f" {payload}"
        else:
            texts.append(payload)
    return texts
