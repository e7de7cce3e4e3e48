"""Every setting and every code that a client or operator can meet is documented, and nothing else is."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator

import actors
import routes
from actors.errors import Refused
from routes.config.settings import PREFIX, SETTINGS
from routes.edge.websocket.close_codes import CloseCode
from tests.contract.sources import LAYERS, OF_THE_BUILD, ROOT, Function, Source, sources, strings

CODE = re.compile(r"[A-Z][A-Z]+(?:_[A-Z]+)*")
# Codes that are sent without being a refusal: in `unsubscribed` and `reconnect` frames.
SENT_AS_TEXT = {"DRAINING", "INTERNAL"}


def _table(document: str, heading: str) -> dict[str, list[str]]:
    """The rows of the table below a heading: {first cell without backticks: other cells}."""
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    section = re.split(r"^#+ ", text.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    rows = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and not cells[0].startswith("-") and "`" in cells[0]:
            name = cells[0].strip(" `")
            assert name not in rows, f"{name} is there twice"
            rows[name] = [cell.strip(" |") for cell in cells[1:]]
    return rows


def _everything() -> None:
    """Import all of our modules, so that every refusal is known."""
    for package in (actors, routes):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)


def _refusals(kind: type[Refused] = Refused) -> Iterator[type[Refused]]:
    for child in kind.__subclasses__():
        if child.__module__.startswith(LAYERS):
            if "code" in vars(child) or hasattr(child, "code"):
                yield child
            yield from _refusals(child)


def test_every_setting_is_documented_with_its_default():
    documented = {name: cells[0].strip("`") for name, cells in _table("settings.md", "Settings").items()}
    assert documented == {setting.name: setting.default or "unset" for setting in SETTINGS}


def test_no_other_name_of_ours_is_written_anywhere():
    """A typo in code, scripts or documents is found here."""
    known = {setting.name for setting in SETTINGS} | {PREFIX, OF_THE_BUILD}
    strays = [
        f"{source.at(node)} {name}"
        for source in sources(*LAYERS, "partyline", "scripts")
        for text, node in strings(source)
        for name in re.findall(rf"{PREFIX}[A-Z_]*", text)
        if name not in known
    ]
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        written = re.findall(rf"{PREFIX}[A-Z_]*", path.read_text(encoding="utf-8"))
        strays += [f"{path.name} {name}" for name in written if name not in known]
    assert not strays, "\n".join(strays)


def test_every_refusal_is_documented_with_its_status():
    _everything()
    documented = _table("errors.md", "Errors")
    used: dict[str, set[str]] = {}
    for refusal in _refusals():
        if hasattr(refusal, "status_hint"):
            used.setdefault(refusal.code, set()).add(str(refusal.status_hint))
    assert documented.keys() == used.keys()
    wrong = [code for code, statuses in used.items() if statuses != set(documented[code][0].split(", "))]
    assert not wrong, wrong


def _field_code(call: ast.Call) -> ast.expr:
    if len(call.args) > 1:
        return call.args[1]
    return next(keyword.value for keyword in call.keywords if keyword.arg == "code")


def test_every_field_code_is_documented():
    documented = _table("errors.md", "Codes of fields").keys()
    used = {
        code.value
        for source in sources("routes", "actors")
        for node in source.nodes
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "FieldError"
        and isinstance(code := _field_code(node), ast.Constant)
    }
    assert used <= documented, used - documented


def test_every_code_in_the_source_is_documented():
    """Whatever looks like a code and is given as one is in one of the tables."""
    documented = {*_table("errors.md", "Errors"), *_table("errors.md", "Codes of fields"), *SENT_AS_TEXT}
    strays = []
    for source in sources("routes", "actors"):
        for node in source.nodes:
            if isinstance(node, ast.keyword) and node.arg == "code" and isinstance(node.value, ast.Constant):
                value = node.value.value
                if isinstance(value, str) and CODE.fullmatch(value) and value not in documented:
                    strays.append(f"{source.at(node)} {value}")
    assert not strays, "\n".join(strays)


def _takers_of_codes(source: Source) -> dict[str, int]:
    """{name of a function or class of this file: which of its arguments is a code}."""
    found = {}
    for node in source.nodes:
        if isinstance(node, Function):
            name, parameters = node.name, node.args.args
        elif isinstance(node, ast.ClassDef):
            made = (one for one in node.body if isinstance(one, Function) and one.name == "__init__")
            name, parameters = node.name, next((one.args.args[1:] for one in made), [])
        else:
            continue
        names = [parameter.arg for parameter in parameters]
        if "code" in names:
            found[name] = names.index("code")
    return found


def test_every_code_that_is_handed_on_is_documented():
    """What helpers make refusals of; a helper whose name begins with an underscore is one of its file alone."""
    documented = {*_table("errors.md", "Errors"), *_table("errors.md", "Codes of fields"), *SENT_AS_TEXT}
    read = sources("routes", "actors")
    takers = {source.path: _takers_of_codes(source) for source in read}
    shared = {name: at for own in takers.values() for name, at in own.items() if not name.startswith("_")}
    strays = []
    for source in read:
        known = shared | takers[source.path]
        for call in source.nodes:
            at = known.get(getattr(call.func, "id", "")) if isinstance(call, ast.Call) else None
            if at is None or len(call.args) <= at or not isinstance(call.args[at], ast.Constant):
                continue
            value = call.args[at].value
            if isinstance(value, str) and CODE.fullmatch(value) and value not in documented:
                strays.append(f"{source.at(call)} {value}")
    assert not strays, "\n".join(strays)


def test_every_close_code_is_documented():
    assert _table("errors.md", "Close codes of sockets").keys() == {str(code.value) for code in CloseCode}
