"""Pages that are bounded in bytes: what one node answers for another fits into one entry of a link, at its largest.

A page counts what is large in its items, and what else they have comes on top. A page that is too large for a link
would be one that its client never gets, though its owner has handed it out.
"""

from actors.connect.public import command_of
from actors.connect.rules_commands import AT_ONCE, bytes_of
from actors.kernel.nodes.entries import Answered, encode
from actors.kernel.nodes.link import ENTRY_BYTES
from actors.kernel.nodes.posts import packed
from actors.pages import MAX_PAGE_BYTES, fitting
from persistence.connect.rows import CommandRow
from routes.connect.commands import MAX_ACTION_CHARACTERS, CommandList
from routes.edge.outgoing import Outgoing
from routes.edge.wire import encode as encode_json
from routes.passing_on import answer_of
from tests.contract.sources import imported_modules, sources

FROM_OWNERS = {"actors/connect/rules_commands.py"}
"""Modules whose pages are the replies of owners, so that another node may have to answer with them: see below."""

READ_HERE = {
    "actors/chat/inbox.py": "a view of the node that has the socket",
    "actors/chat/lookups.py": "what an owner reads for itself",
    "actors/chat/paging.py": "a page of what the node has in memory, or reads",
    "actors/chat/reading.py": "rows, read by the node that is asked",
    "actors/chat/rendering.py": "rows, read by the node that is asked",
    "actors/chat/slimming.py": "what an owner, or a copy of it, keeps in memory",
    "actors/chat/window.py": "what an owner, or a copy of it, has in memory",
    "actors/connect/missed.py": "what streams of the node have missed",
    "routes/connect/commands.py": "rows, read by the node that is asked; what an owner delivers is no page of its own",
    "routes/connect/settings.py": "rows, read by the node that is asked",
    "routes/launcher/performance_reports.py": "rows, read by the node that is asked",
    "routes/news/pages.py": "rows, read by the node that is asked",
    "routes/news/rss.py": "rows, read by the node that is asked",
    "routes/versions/releases.py": "memory of every node",
}
"""All others: {module: why no other node answers with its pages}."""

HEADERS = [(b"x" * 40, b"y" * 200)] * 40
"""More than any answer has."""


def test_every_bounded_page_says_whether_another_node_may_answer_with_it() -> None:
    bounded = {
        source.path
        for source in sources("actors", "routes", "persistence")
        if "actors.pages" in imported_modules(source)
    }
    assert bounded == FROM_OWNERS | READ_HERE.keys()


def _delivery() -> list[CommandRow]:
    """As many commands as are delivered at once, with all that a page may take, and everything else at its most."""
    payload = b'"' + b"x" * (MAX_PAGE_BYTES // AT_ONCE - 2) + b'"'
    row = CommandRow(
        id="c" * 64,
        server_id="s" * 64,
        action="\U0001f600" * MAX_ACTION_CHARACTERS,
        payload=payload,
        status="delivered",
        version=2**53,
        attempts=2**53,
        extension_id="e" * 64,
        created_by="u" * 64,
        progress=99.99999999999999,
        created_at_ms=2**41,
        updated_at_ms=2**41,
        delivered_at_ms=2**41,
        started_at_ms=2**41,
        expires_at_ms=2**41,
        leased_until_ms=2**41,
    )
    delivery = list(fitting([row] * AT_ONCE, bytes_of))
    assert len(delivery) == AT_ONCE
    assert sum(map(bytes_of, delivery)) > MAX_PAGE_BYTES - 2 * AT_ONCE * 100
    return delivery


def test_a_delivery_of_commands_fits_into_one_entry_however_it_crosses() -> None:
    delivery = _delivery()
    body = encode_json(CommandList(tuple(map(command_of, delivery)), None, has_more=False))
    assert len(body) > MAX_PAGE_BYTES
    answer = answer_of(2**63 - 1, Outgoing(200, HEADERS, body))
    assert answer is not None
    assert len(answer) <= ENTRY_BYTES
    reply = packed(tuple[CommandRow, ...], tuple(delivery))
    assert len(encode(Answered(2**63 - 1, reply))) <= ENTRY_BYTES
