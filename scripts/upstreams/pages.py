"""Pages for people who try the service without internet."""

from html import escape

from scripts.upstreams.http import Reply
from scripts.upstreams.stripe_sessions import StripeSession

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 30rem; margin: 4rem auto; padding: 0 1rem }}
button {{ font: inherit; padding: .5rem 1rem }}
</style></head>
<body><h1>{title}</h1>{content}</body></html>
"""


def pay_page(session: StripeSession) -> Reply:
    """The page on which a session is paid, or that says what has become of it."""
    rows = "".join(
        f"<li>{escape(line['quantity'])} × {escape(line['name'])}: {escape(line['unit_amount'])}</li>"
        for line in session.lines
    )
    total = (
        f"<p><strong>{session.amount_total} {escape(session.currency.upper())}</strong> (smallest unit)</p>"
    )
    buttons = "".join(
        f'<button name="action" value="{value}">{text}</button> '
        for value, text in (("pay", "Pay"), ("later", "Pay later"), ("cancel", "Cancel"))
    )
    form = f'<form method="post">{buttons}</form>'
    state = form if session.status == "open" else f"<p>This session is {session.status}.</p>"
    return _page("A payment that is none", f"<ul>{rows}</ul>{total}{state}")


def paid_page(session: StripeSession) -> Reply:
    """The page after the button was pressed, which leads the payer back to where they came from."""
    if session.status != "complete":
        return pay_page(session)
    return Reply(303, headers=(("Location", session.success_url),))


def _page(title: str, content: str) -> Reply:
    return Reply(200, _PAGE.format(title=title, content=content).encode(), "text/html; charset=utf-8")
