"""Rows are changed in one way, so that nobody forgets who has to hear of it: `routes/changes.py`."""

import ast

from routes import DOMAINS
from routes.changes import Reaction
from tests.contract.sources import Source, sources

# Where a transaction is begun beside it, and why: {path: reason}.
TRANSACTIONS = {
    "routes/changes.py": "the one way",
    "routes/edge/pipeline/call.py": "with the receipt of a request; knows no domain",
    "routes/edge/pipeline/once.py": "the receipt of a request alone; knows no domain",
    "routes/pruning.py": "rows that nobody has in memory any more",
    "routes/telemetry/units.py": "the same transaction, which it only sees",
    "routes/cli/signin.py": "no service runs in the command",
    "routes/cli/catalog.py": "no service runs in the command; a running one reads catalogs anew",
    "routes/cli/draining.py": "what nodes see with the next renewal of their row",
    "routes/cli/backup.py": "into a database that nobody has served yet",
    "routes/cli/archiving.py": "into a database that nobody has served yet",
    "routes/cli/export.py": "it only reads, all of one moment",
    "routes/cli/token.py": "no service runs in the command",
    "routes/users/setup.py": "the link that is printed at the start; nobody is there yet",
    "routes/versions/parts.py": "the last counts, when there is no service any more",
    "routes/discord/sender.py": "what has become of posts, which nothing in memory repeats",
    "routes/publications/parts.py": "what a clock that was ahead has left, before any of it is read",
    "routes/joining.py": "the row of this node, before anything is served",
    "routes/matching.py": "the name of the master key, before anything is served",
    "routes/cli/accepting.py": "the same, while no service runs",
    "routes/networks/automation.py": "what is to be written to a name service, which nothing in memory repeats",
}


def _begins_transactions(source: Source) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "transact"
        for node in source.nodes
    )


def test_rows_are_changed_in_one_way() -> None:
    begun = {source.path for source in sources("routes") if _begins_transactions(source)}
    assert begun == set(TRANSACTIONS)


def test_every_event_has_somebody_who_reacts() -> None:
    """An event that nobody hears of is a sentence to nobody; a reaction to what never happens is dead."""
    reactions: tuple[Reaction[object], ...] = tuple(each for one in DOMAINS for each in one.reactions)
    heard = {reaction.to.__name__ for reaction in reactions}
    all_ = sources("actors", "routes")
    assert {name for source in all_ for name in _told(source)} <= heard
    assert heard <= {name for source in all_ for call in _calls(source) for name in _names(call)}


def _told(source: Source) -> set[str]:
    """Names of what is put into the events of a `Change`."""
    changes = [call for call in _calls(source) if _names(call) == {"Change"}]
    return {
        node.id
        for change in changes
        for argument in change.args[1:]
        for node in ast.walk(argument)
        if isinstance(node, ast.Name) and node.id[0].isupper()
    }


def _calls(source: Source) -> list[ast.Call]:
    return [node for node in source.nodes if isinstance(node, ast.Call)]


def _names(call: ast.Call) -> set[str]:
    """What is called by its bare name; of `map(Event, …)` the event too."""
    called = (
        [call.func, *call.args] if isinstance(call.func, ast.Name) and call.func.id == "map" else [call.func]
    )
    return {node.id for node in called if isinstance(node, ast.Name)}
