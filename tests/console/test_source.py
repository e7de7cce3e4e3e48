"""The modules of the console: what no file of them may contain, and that all they name is there."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from actors.users.permissions import ABSENT_GRANTS, BUILT_IN_NODES
from routes.console.joining import IMPORTS
from routes.console.static_files import ENTRY, STYLES, read_static_files, shipped_static_files
from routes.domains import TABLE
from routes.edge.principal import AUTHENTICATED, MODERATOR, SUPER_ADMIN

STATIC = Path(__file__).parents[2] / "routes/console/static"
MODULES = sorted(path for path in STATIC.rglob("*.js") if "vendor" not in path.parts)
STYLE_SHEETS = sorted(STATIC.rglob("css/*.css"))


def words_in(name: str) -> dict[str, Any]:
    """The words of one file below `text/`."""
    words: dict[str, Any] = json.loads((STATIC / f"text/{name}.json").read_text())
    return words


PARTS = ("en", "en.play", "en.run", "en.operate", "en.setup")
"""The files with English words: of the first view, Home and Chat, of the other pages of each group, of the setup."""

WORDS = {key: entry for part in PARTS for key, entry in words_in(part).items()}
LANGUAGES = ("de",)

MAX_LINES = 300

FORBIDDEN = (
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "dangerouslySetInnerHTML",
    "eval(",
    "new Function",
    "document.write",
    'style="',
    "sessionStorage",
    "document.cookie",
)
"""What could make a script or a style of a text, or keep a credential where scripts can read it."""

REMEMBERING = {"ui/keys.js", "ui/theme.js", "words.js"}
"""Who may use what a browser keeps: for the theme, the language, and for whether single letters do something."""


def name_of(path: Path) -> str:
    return path.relative_to(STATIC).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_module_makes_markup_of_texts_or_keeps_credentials(path: Path):
    text = path.read_text()
    assert [word for word in FORBIDDEN if word in text] == []
    assert not re.search(r'\son[a-z]+="', text), "an inline handler"
    assert "localStorage" not in text or name_of(path) in REMEMBERING
    assert text.count("\n") <= MAX_LINES


def test_every_import_is_there():
    static = shipped_static_files()
    for path in MODULES:
        reached = static.imported_by(name_of(path))
        assert set(reached) <= set(static.contents)
    lazy = {
        (path.parent / name).resolve()
        for path in MODULES
        for name in re.findall(r'import\("([^"]+)"\)', path.read_text())
    }
    assert lazy, "pages are loaded when they are opened"
    assert [path for path in lazy if not path.is_file()] == []


def test_every_name_is_exported():
    """A name that a module imports is one that the other exports: joined, a wrong one is seen in its use alone."""
    exports = re.compile(r"^export (?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
    exported = {name_of(path): set(exports.findall(path.read_text())) for path in MODULES}
    for path in MODULES:
        for names, target in re.findall(
            r'^import \{([^}]*)\} from "(\.[^"]+)";', path.read_text(), re.MULTILINE
        ):
            other = name_of((path.parent / target).resolve())
            wanted = {name.split(" as ")[0].strip() for name in names.split(",")}
            assert wanted <= exported[other], f"{name_of(path)} imports from {other}"


def test_nothing_is_left_over():
    """Every module is reached from the entry, by an import or as a page; every style sheet is linked."""
    static = shipped_static_files()
    reached: set[str] = set()
    waiting = [ENTRY]
    while waiting:
        for path in static.imported_by(waiting.pop()):
            if path in reached:
                continue
            reached.add(path)
            folder = (STATIC / path).parent
            lazy = re.findall(r'import\("([^"]+)"\)', static.contents[path].decode())
            waiting += [name_of((folder / name).resolve()) for name in lazy]
    assert {name_of(path) for path in MODULES} - reached == set()
    assert [name_of(path) for path in STYLE_SHEETS] == sorted(STYLES)


def test_pages_do_not_import_each_other():
    """A page may use what lies in its own folder, `ui/`, and the root; whatever two pages need belongs there."""
    crossing = [
        f"{name_of(path)} imports {name}"
        for path in MODULES
        if name_of(path).startswith("pages/")
        for name in re.findall(r'from "(\.[^"]+)"', path.read_text())
        if name_of((path.parent / name).resolve()).startswith("pages/")
        and ((path.parent / name).resolve().parent != path.parent or path.parent == STATIC / "pages")
    ]
    assert crossing == []


def test_requests_stand_in_one_module_and_their_routes_exist():
    routes = [
        (route.method, re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template))))
        for route in TABLE.endpoints
        for template in route.templates
    ]
    text = (STATIC / "api.js").read_text()
    called = re.findall(r'rest\.(get|post|put|patch|delete)\(\s*[`"]([^`"]+)[`"]', text)
    assert len(called) > 50
    missing = [
        f"{method} {path}"
        for method, path in called
        if not any(
            known == method.upper() and template.fullmatch(re.sub(r"\$\{[^}]*\}", "x", path))
            for known, template in routes
        )
    ]
    assert missing == []
    elsewhere = [
        name_of(path)
        for path in MODULES
        if re.search(r'["`]/v1/', path.read_text()) and not name_of(path).startswith("client/")
    ]
    assert elsewhere == ["api.js", "session.js"], "what a page asks of the service has a name in api.js"


def asked_in(text: str) -> set[str]:
    """The keys of words that a module names."""
    return set(re.findall(r'(?:say|ofRow)\(\s*"([\w.-]+)"', text))


def test_what_a_button_needs_is_what_its_route_needs():
    """The drawing of what a role sees says of each button the right that the service asks for."""
    api = (STATIC / "api.js").read_text()
    buttons = re.findall(
        r'page: "([^"]+)", words: "([^"]+)", call: "(\w+)\.(\w+)", needs: (null|"[^"]+"|\w+)',
        (source := (STATIC / "pages/operate/buttons.js").read_text()),
    )
    constants = dict(re.findall(r'const (\w+) = "([^"]+)";', source)) | {
        "null": AUTHENTICATED,
        "MODERATOR": MODERATOR,
        "SUPER_ADMIN": SUPER_ADMIN,
    }
    assert len(buttons) == source.count("call:") > 20
    pages = re.findall(r'path: "([^"]+)"', (STATIC / "pages.js").read_text())
    for page, words, group, name, needs in buttons:
        assert page in pages
        assert words in WORDS
        body = re.search(rf"export const {group} = {{\n(.*?)\n}};", api, re.DOTALL)
        assert body is not None, group
        called = re.search(
            rf"^  {name}: .*?rest\.(\w+)\(\s*[`\"]([^`\"]+)[`\"]", body[1], re.MULTILINE | re.DOTALL
        )
        assert called is not None, name
        method, path = called[1].upper(), re.sub(r"\$\{[^}]*\}", "x", called[2])
        found = [
            route.needs
            for route in TABLE.endpoints
            for template in route.templates
            if route.method == method
            and re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), path)
        ]
        assert constants.get(needs, needs.strip('"')) == found[0], (group, name)


def test_words():
    """What is shown stands in `text/`: every key that is asked for is there, and none is left over."""
    texts = {name_of(path): path.read_text() for path in MODULES if not name_of(path).startswith("client/")}
    asked = {key for text in texts.values() for key in asked_in(text)}
    quoted = {key for text in texts.values() for key in re.findall(r'"([a-zA-Z]+\.[\w.-]+)"', text)}
    families = {
        family
        for text in texts.values()
        for family in re.findall(r'(?:say\(|sayOf\("|knows\(|= )`?([\w.]+?)(?:\.\$\{|", )', text)
    }
    assert asked - set(WORDS) == set()
    left = [
        key
        for key in WORDS
        if key not in asked | quoted and not any(key.startswith(f"{family}.") for family in families)
    ]
    assert left == []
    assert sum(len(words_in(part)) for part in PARTS) == len(WORDS), "a key stands in two files"


def test_pages_find_their_words():
    """A page has the words of all pages, and those of its own group; nothing that it uses names others."""
    static = shipped_static_files()
    everybody = set(words_in("en"))
    contents = (STATIC / "pages.js").read_text()
    pages = re.findall(r'load: (play|run|operate)?\(+\) => import\("\./([^"]+)"\)', contents)
    assert {part for part, _ in pages} == {"", "play", "run", "operate"}
    for part, entry in [*pages, ("setup", "setup.js")]:
        known = everybody | (set(words_in(f"en.{part}")) if part else set())
        for path in static.imported_by(entry):
            assert asked_in(static.contents[path].decode()) - known == set(), f"{entry} imports {path}"
    assert "setup.js" not in static.imported_by(ENTRY)
    for path in static.imported_by(ENTRY):
        assert asked_in(static.contents[path].decode()) - everybody == set(), path
    titles = set(re.findall(r'title: "([\w.]+)"', contents))
    assert titles - everybody == set(), "the navigation shows titles to everybody: they stand in en.json"


@pytest.mark.parametrize("part", [part.removeprefix("en") for part in (*PARTS, "en.landing")])
@pytest.mark.parametrize("language", LANGUAGES)
def test_languages_say_the_same(language: str, part: str):
    english, other = words_in(f"en{part}"), words_in(language + part)
    assert list(other) == list(english)
    assert {key: shape_of(entry) for key, entry in other.items()} == {
        key: shape_of(entry) for key, entry in english.items()
    }


def test_languages_are_offered():
    offered = re.search(r"LANGUAGES = \{(.*?)\}", (STATIC / "words.js").read_text())
    assert offered is not None
    assert re.findall(r"(\w+):", offered[1]) == ["en", *LANGUAGES]


def shape_of(entry: str | dict[str, str]) -> dict[str, set[str]]:
    """{form: the values that it has places for}."""
    forms = entry if isinstance(entry, dict) else {"": entry}
    return {form: set(re.findall(r"\{(\w+)\}", text)) for form, text in forms.items()}


def test_rights_have_words():
    assert {node for node in BUILT_IN_NODES | ABSENT_GRANTS if f"right.{node}" not in WORDS} == set()


def test_plural_forms_are_complete():
    forms = {key: entry for key, entry in WORDS.items() if isinstance(entry, dict)}
    assert all(set(entry) == {"one", "other"} for entry in forms.values())
    assert all(list(words_in(part)) == sorted(words_in(part)) for part in PARTS)


def test_colours_stand_in_one_file():
    """All other style sheets name colours by their token; shadows, which are black in any theme, excepted."""
    for path in STYLE_SHEETS:
        if path.name == "tokens.css":
            continue
        text = re.sub(
            r"oklch\(0 0 0 / [\d.]+\)|var\(--face\)|oklch\([\d.]+ [\d.]+ var\(--face\)\)",
            "",
            path.read_text(),
        )
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b|\brgb|\bhsl|oklch\(", text), path.name


def test_libraries_are_what_was_vendored():
    entries = json.loads((STATIC / "vendor/versions.json").read_text())
    digests = {entry["file"]: entry["sha256"] for entry in entries}
    scripts = {path.name for path in (STATIC / "vendor").iterdir() if path.suffix in {".js", ".css"}}
    assert set(digests) == scripts
    for name, digest in digests.items():
        assert hashlib.sha256((STATIC / "vendor" / name).read_bytes()).hexdigest() == digest
    licences = {path.name for path in (STATIC / "vendor").glob("*.LICENSE")}
    packages = {entry["package"].removeprefix("@").replace("/", "-") for entry in entries}
    assert licences == {f"{package}.LICENSE" for package in packages}


def test_names_that_modules_import_are_vendored_or_ours():
    assert set(IMPORTS.values()) <= set(shipped_static_files().contents)


def test_one_changed_file_changes_every_address(tmp_path: Path):
    for path in STATIC.rglob("*"):
        if path.is_file():
            copy = tmp_path / path.relative_to(STATIC)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    before = read_static_files(tmp_path)
    assert before.digest == shipped_static_files().digest
    (tmp_path / "css/base.css").write_text("x")
    assert read_static_files(tmp_path).digest != before.digest
