"""What no code may do: swallow errors, print, keep state in modules, format values into SQL."""

import ast

from tests.contract.sources import LAYERS, Function, Source, imports, sources, strings

# Where everything may be caught, and why: {path: reason}.
BROAD_EXCEPT = {
    "actors/kernel/supervisor.py": "a fault of one actor stops that actor and no other",
    "routes/edge/contained.py": "a fault of one connection ends no other",
    "routes/edge/pipeline/dispatch.py": "whatever a handler raises becomes a problem document",
    "routes/jobs.py": "a job that fails has its next turn, and hurts no other",
    "persistence/bridge": "an exception must cross from the database thread to the caller's",
}
# Where something is printed, and why: {path: reason}.
PRINTS = {
    "routes/cli/main.py": "the command line",
    "routes/process.py": "the address and the setup link at the start",
    "routes/config/config.py": "the one line about a bad setting",
}
MUTABLE_CALLS = {
    "dict", "list", "set", "bytearray", "deque", "defaultdict", "OrderedDict", "Counter", "ContextVar",
    "WeakValueDictionary", "WeakKeyDictionary", "WeakSet", "Event", "Lock", "Semaphore", "count", "local",
}  # fmt: skip
CHANGERS = {
    "append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "popleft", "appendleft",
    "remove", "discard", "clear", "sort", "reverse",
}  # fmt: skip


def _broad(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException"))
        for kind in kinds
    )


def _reraises(handler: ast.ExceptHandler) -> bool:
    """It only tidies up: the exception goes on."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def _broad_exit(node: ast.AST) -> bool:
    """A context manager that keeps every exception: `isinstance(error, Exception)` in its `__exit__`."""
    return (
        isinstance(node, Function)
        and node.name in ("__exit__", "__aexit__")
        and any(
            isinstance(argument, ast.Name) and argument.id == "Exception"
            for call in ast.walk(node)
            if isinstance(call, ast.Call)
            for argument in call.args
        )
    )


def _catches_all(source: Source) -> list[ast.AST]:
    """Where the file catches everything and keeps it."""
    return [
        node
        for node in source.nodes
        if (isinstance(node, ast.ExceptHandler) and _broad(node) and not _reraises(node)) or _broad_exit(node)
    ]


def _does_nothing(handler: ast.ExceptHandler) -> bool:
    return all(isinstance(statement, ast.Pass) for statement in handler.body)


def test_broad_except_in_its_places_only():
    """Only the supervisor, the edge's error boundary, the housekeeping and the thread boundary catch everything."""
    strays = [
        source.at(node)
        for source in sources(*LAYERS)
        for node in _catches_all(source)
        if not source.path.startswith(tuple(BROAD_EXCEPT))
    ]
    assert not strays, "\n".join(strays)


def test_the_allowances_are_used():
    """A place that no longer needs its allowance loses it."""
    broad = {source.path for source in sources(*LAYERS) if _catches_all(source)}
    unused = [place for place in BROAD_EXCEPT if not any(path.startswith(place) for path in broad)]
    assert not unused, unused


def test_nothing_is_swallowed():
    """No handler of a broad kind has only `pass`, and `suppress` is never given `Exception`."""
    strays = []
    for source in sources(*LAYERS):
        for node in source.nodes:
            silent = isinstance(node, ast.ExceptHandler) and _broad(node) and _does_nothing(node)
            suppressed = (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", getattr(node.func, "attr", "")) == "suppress"
                and any(isinstance(a, ast.Name) and a.id in ("Exception", "BaseException") for a in node.args)
            )
            if silent or suppressed:
                strays.append(source.at(node))
    assert not strays, "\n".join(strays)


def test_only_the_command_line_prints():
    """Everything else goes through the log."""
    strays = [
        source.at(node)
        for source in sources(*LAYERS)
        for node in source.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        and source.path not in PRINTS
    ]
    assert not strays, "\n".join(strays)


def _changeable(value: ast.expr | None) -> bool:
    """A literal or call that makes an object which can change."""
    if isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp):
        return True
    if isinstance(value, ast.Call):
        name = getattr(value.func, "id", getattr(value.func, "attr", ""))
        return name in MUTABLE_CALLS
    return False


def _changed_names(source: Source) -> set[str]:
    """Names that the file changes in place: item assignment, deletion, a changing method, `global`."""
    names: set[str] = set()
    for node in source.nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            names |= {node.value.id} if isinstance(node.value, ast.Name) else set()
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGERS
        ):
            names |= {node.func.value.id} if isinstance(node.func.value, ast.Name) else set()
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, ast.Global):
            names |= set(node.names)
    return names


def test_no_global_state():
    """A module holds constants: tables in capitals that nothing changes. State is opened and passed."""
    strays = []
    for source in sources(*LAYERS):
        changed = _changed_names(source)
        for node in source.tree.body:
            if isinstance(node, ast.Assign):
                targets, value = node.targets, node.value
            elif isinstance(node, ast.AnnAssign):
                targets, value = [node.target], node.value
            else:
                continue
            for target in targets:
                if not isinstance(target, ast.Name) or not _changeable(value):
                    continue
                table = isinstance(
                    value, ast.List | ast.Dict | ast.Set | ast.DictComp | ast.SetComp | ast.ListComp
                )
                constant = table and target.id.lstrip("_").isupper() and target.id not in changed
                dunder = target.id in ("__all__", "__slots__")
                if not constant and not dunder:
                    strays.append(f"{source.at(node)} {target.id}")
    assert not strays, "\n".join(strays)


def test_no_global_statement():
    """Nothing assigns to a module's names from inside a function."""
    strays = [
        source.at(node)
        for source in sources(*LAYERS)
        for node in source.nodes
        if isinstance(node, ast.Global)
    ]
    assert not strays, "\n".join(strays)


def test_time_and_chance_are_injected():
    """Rules read no clock and draw no numbers of their own (invariant 13)."""
    owned = {
        "time": {"time", "time_ns", "monotonic"},
        "random": None,
        "secrets": None,
        "datetime": {"now", "utcnow"},
    }
    strays = []
    for source in sources("actors"):
        if source.path == "actors/kernel/clock.py":
            continue
        for node in source.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                module = node.func.value
                names = owned.get(module.id, set()) if isinstance(module, ast.Name) else set()
                if (names is None and node.func.attr != "Random") or (names and node.func.attr in names):
                    strays.append(source.at(node))
    assert not strays, "\n".join(strays)


def test_values_are_never_formatted_into_sql():
    """SQL is text with `$1` parameters; an f-string joins only constants in capitals."""
    strays = []
    for source in sources("persistence"):
        for node in source.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                is_statement = node.func.attr in STATEMENT_CALLS and not _is_prepared(node.func.value)
                if is_statement and node.args and not _fixed(node.args[0]):
                    strays.append(source.at(node))
    assert not strays, "\n".join(strays)


STATEMENT_CALLS = {"execute", "executemany", "fetch", "fetchrow", "fetchval", "prepare"}


def _is_prepared(receiver: ast.expr) -> bool:
    """A statement that was prepared takes values only."""
    return isinstance(receiver, ast.Name) and receiver.id == "prepared"


def _fixed(query: ast.expr) -> bool:
    """Text that is the same at every call: a literal, a name, or an f-string of names in capitals."""
    if isinstance(query, ast.Constant | ast.Name | ast.Attribute | ast.Subscript):
        return True
    if isinstance(query, ast.JoinedStr):
        return all(
            isinstance(part, ast.Constant)
            or (
                isinstance(part, ast.FormattedValue)
                and isinstance(part.value, ast.Name)
                and part.value.id.isupper()
            )
            for part in query.values
        )
    return False


def test_rates_stand_in_their_tables():
    """Only those of the tables are told to other nodes; another would be a limit on each node by itself."""
    tables = {"routes/rates.py", "routes/edge/policies.py"}
    made = {
        source.at(node)
        for source in sources(*LAYERS)
        if source.path not in tables
        for node in source.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Policy"
    }
    assert not made, "rates belong into routes/rates.py: " + ", ".join(sorted(made))


def test_no_word_of_how_it_was_made():
    """The project stands alone: no paths of a build machine, no tools that wrote it."""
    words = ("/work" + "/", "../sha" + "red", "/tmp/" + "lab")
    strays = [
        source.at(node)
        for source in sources(*LAYERS, "partyline", "scripts", "tests")
        for text, node in strings(source)
        if any(word in text for word in words)
    ]
    assert not strays, "\n".join(strays)


def test_no_test_module_is_imported():
    """What tests share lies in modules of its own (`play.py`): running one file never runs another's tests."""
    shared = [
        f"{source.at(node)} {name}"
        for source in sources("tests")
        for name, node in imports(source)
        if name.startswith("tests.") and name.rpartition(".")[2].startswith("test_")
    ]
    assert not shared, "\n".join(shared)
