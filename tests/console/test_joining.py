"""Modules joined into files: each once, after what it needs, at the lines that the source map says; and the weight of
every page.
"""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from routes.console.document import document
from routes.console.joining import CONSOLE, JOINED, joined
from routes.console.static_files import (
    ENTRY,
    STYLE_SHEET,
    StaticFiles,
    read_static_files,
    shipped_static_files,
)

MOST_BYTES = 100 * 1024
"""Of any page, compressed, with all that it loads but what belongs to its visitor."""

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@pytest.fixture(scope="module")
def static() -> StaticFiles:
    return shipped_static_files()


def modules_of(static: StaticFiles, file: str) -> list[str]:
    return re.findall(r'^modules\["([^"]+)"\] = ', static.contents[file].decode(), re.MULTILINE)


def scripts(static: StaticFiles) -> list[str]:
    return [path for path in static.contents if path.startswith(JOINED) and path.endswith(".js")]


def files(**sources: str) -> dict[str, bytes]:
    return {f"{name}.js": text.encode() for name, text in sources.items()}


def numbers(digits: str) -> list[int]:
    found, shift, value = [], 0, 0
    for digit in map(DIGITS.index, digits):
        value |= (digit & 31) << shift
        shift += 5
        if digit < 32:
            found.append(-(value >> 1) if value & 1 else value >> 1)
            shift = value = 0
    return found


def test_every_module_is_in_one_file_after_what_it_imports(static: StaticFiles) -> None:
    all_modules = [module for file in scripts(static) for module in modules_of(static, file)]
    assert len(all_modules) == len(set(all_modules))
    assert set(all_modules) == {
        path for path in static.contents if path.endswith(".js") and not path.startswith(("vendor/", JOINED))
    }
    assert modules_of(static, CONSOLE)[-1] == ENTRY
    for file in scripts(static):
        seen: set[str] = set()
        for line in static.contents[file].decode().splitlines():
            if (begun := re.match(r'modules\["([^"]+)"\] = ', line)) is not None:
                seen.add(begun[1])
            elif (needed := re.search(r'= modules\["([^"]+)"\]', line)) is not None:
                assert needed[1] in seen


def test_source_maps_lead_back_to_the_lines_that_are_written(static: StaticFiles) -> None:
    for file in scripts(static):
        found: dict[str, Any] = json.loads(static.contents[f"{file}.map"])
        lines = static.contents[file].decode().split("\n")
        sources = [
            static.contents[name.removeprefix("../")].decode().split("\n") for name in found["sources"]
        ]
        source = line = mapped = 0
        for shown, segment in zip(lines, found["mappings"].split(";"), strict=False):
            if not segment:
                continue
            _, source_step, line_step, _ = numbers(segment)
            source, line, mapped = source + source_step, line + line_step, mapped + 1
            written = sources[source][line]
            assert written.startswith(shown) or re.match(r"import|export", written) or "import" in written
        assert mapped == sum(len(text) - 1 for text in sources)


def test_comments_are_left_out_and_texts_are_not() -> None:
    lines = [
        "// A line.",
        "const one = 1; // the end of a line",
        'const two = "a; // b";',
        "const three = `a; // b`;",
        "/** Several",
        " * lines. */",
        'const four = "http://a"; // said of "four"',
    ]
    made = joined(files(boot="\n".join([*lines, ""])), "boot.js")
    kept = ["const one = 1;", *lines[2:4], lines[6]]
    shown = made[CONSOLE].decode().splitlines()
    assert [line for line in shown if line.startswith("const ")] == kept


@pytest.mark.parametrize("last", ["// the end", "// it's the end", "/* the end */", ""])
@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
def test_a_last_line_takes_in_nothing_of_what_is_added(last: str, ending: str) -> None:
    made = joined(files(boot=f"export const one = 1; {last}{ending}"), "boot.js")
    assert "return { one: one };" in made[CONSOLE].decode().splitlines()


def test_what_one_page_alone_needs_waits_until_it_is_opened() -> None:
    made = joined(
        files(
            boot='import { shared } from "./shared.js";\nconst open = () => import("./page.js");\n'
            'const other = () => import("./other.js");\n',
            shared="export const shared = 1;\n",
            page='import { part } from "./part.js";\nimport { both } from "./both.js";\n'
            "export default function Page() {}\n",
            other='import { both as two } from "./both.js";\nexport default function Other() {}\n',
            part="// A comment.\nexport const part = 2;\n",
            both="export class both {}\n",
        ),
        "boot.js",
    )
    console = made[CONSOLE].decode()
    assert not re.search(r'modules\["(both|part)\.js"\]', console)
    assert 'import("./page.js").then((file) => file.modules["page.js"])' in console
    page = made["joined/page.js"].decode()
    assert page.startswith('import * as file0 from "./both.js";\n')
    assert 'const { both } = file0.modules["both.js"];' in page
    assert (
        'modules["part.js"] = await (async () => {\n\nconst part = 2;\nreturn { part: part };\n})();' in page
    )
    assert "return { default: Page };" in page
    assert 'const { both: two } = file0.modules["both.js"];' in made["joined/other.js"].decode()


@pytest.mark.parametrize(
    "sources",
    [
        {"boot": 'import { a } from "./nothing.js";\n'},
        {"boot": 'const open = () => import("./nothing.js");\n'},
        {"boot": 'import { a } from "./a.js";\n', "a": 'import { b } from "./boot.js";\n'},
        {"boot": 'import * as all from "./a.js";\n', "a": "export const a = 1;\n"},
        {"boot": 'export * from "./a.js";\n', "a": "export const a = 1;\n"},
        {"boot": "export let changing = 1;\n"},
    ],
    ids=["no module", "no module on demand", "circle", "all names", "passed on", "changing export"],
)
def test_what_is_not_understood_is_refused_at_the_start(sources: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"not there|circle|not understood"):
        joined(files(**sources), "boot.js")


def weight(static: StaticFiles, paths: set[str]) -> int:
    return sum(len(gzip.compress(static.contents[path], 9)) for path in paths)


def test_every_page_is_light(static: StaticFiles) -> None:
    """With what it shares with all others, and with what it imports itself on demand."""
    shared = {*static.imported_by(CONSOLE), STYLE_SHEET, "text/en.json", "mark.svg"}
    words = max(
        weight(static, {path}) for path in static.contents if re.fullmatch(r"text/en\.\w+\.json", path)
    )
    common = weight(static, shared) + words + len(gzip.compress(document(static), 9))
    pages = sorted(path for path in scripts(static) if path.startswith(f"{JOINED}pages-"))
    assert len(pages) > 10
    heavy = {}
    for page in pages:
        needed = set(static.imported_by(page))
        for name in re.findall(r'import\("\./([^"]+)"\)', static.contents[page].decode()):
            needed |= set(static.imported_by(JOINED + name))
            needed |= {"vendor/uplot.css"} if "vendor/uplot.js" in needed else set()
        heavy[page] = common + weight(static, needed - shared)
    assert {page: size for page, size in heavy.items() if size > MOST_BYTES} == {}


def test_with_a_folder_of_ones_own_what_is_edited_is_joined(static: StaticFiles, tmp_path: Path) -> None:
    for path, content in static.contents.items():
        if not path.startswith(JOINED):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(content)
    page = tmp_path / "pages/friends.js"
    page.write_text(page.read_text() + "console.debug('edited');\n")
    assert b"console.debug('edited');" in read_static_files(tmp_path).contents["joined/pages-friends.js"]
