"""A wheel with compiled modules, of a small project that is compiled as ours is: what runs before and after edits."""

import os
import shutil
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path

import pytest

from tests.contract.sources import ROOT
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = [
    pytest.mark.drill,
    pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="there is no C compiler"),
]

PROJECT = {
    "actors/__init__.py": "from compiled.finding import use\n\nuse()\n",
    "actors/limits.py": "from typing import Final\n\nLIMIT: Final = 3\n",
    "actors/rule.py": """\
from actors.limits import LIMIT


def check(value: int) -> str:
    if value > LIMIT:
        raise ValueError(f"more than {LIMIT}")
    return "well"


async def ask(value: int) -> str:
    return check(value)
""",
    "scripts/compiling/groups.py": 'GROUPS = {"rules": ("actors.rule",)}\n',
    "pyproject.toml": """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "small"
version = "1"
optional-dependencies = { compile = [] }
[tool.hatch.build.targets.wheel]
only-include = ["actors", "compiled"]
exclude = ["compiled/objects"]
[tool.hatch.build.targets.wheel.hooks.custom]
path = "hatch_build.py"
[tool.mypy]
strict = true
""",
}
OURS = ("hatch_build.py", "compiled/__init__.py", "compiled/finding.py", *(
    f"scripts/compiling/{name}.py" for name in ("__init__", "building")
))  # fmt: skip
TOLD = """
import actors.rule
from compiled.finding import standing
try:
    print(actors.rule.check(4))
except ValueError as refused:
    print(refused)
print(type(actors.rule.__loader__).__name__, *standing())
"""


def _run(folder: Path, program: str, **environ: str) -> subprocess.CompletedProcess[str]:
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PARTYLINE_")}
    return subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        cwd=folder,
        env=bare | environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )


def _make_wheel(project: Path) -> Path:
    for name, text in PROJECT.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    for name in OURS:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", str(project), *offline, "-w", str(project)],
        env={**os.environ, "PARTYLINE_COMPILE": "1"},
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    (made,) = project.glob("*.whl")
    return made


def test_a_wheel_with_compiled_modules(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """One wheel for all cases, since it is the compiler that takes its time; each case has a copy of its own."""
    wheel = _make_wheel(tmp_path)
    for number, (name, case) in enumerate(CASES):
        installed = tmp_path / f"installed-{number}"
        zipfile.ZipFile(wheel).extractall(installed)
        with subtests.test(name):
            case(installed)
    assert f"-cp{sys.version_info.major}{sys.version_info.minor}-" in wheel.name


def _runs_compiled(installed: Path) -> None:
    assert (installed / "actors/rule.py").is_file()
    told = _run(installed, TOLD)
    assert told.stdout.splitlines() == ["more than 3", "ExtensionFileLoader ('actors.rule',) None"], (
        told.stderr
    )


def _never_passes_over_an_edited(where: str, installed: Path) -> None:
    edited = installed / where
    edited.write_text(edited.read_text().replace("more than", "above").replace("= 3", "= 2"))
    told = _run(installed, TOLD)
    assert told.stdout.splitlines() == [
        "above 3" if "rule" in where else "more than 2",
        f"SourceFileLoader () {where} has changed since",
    ], told.stderr


def _prefers_sources_where_told(installed: Path) -> None:
    told = _run(installed, TOLD, PARTYLINE_PURE="on")
    assert told.stdout.splitlines()[1] == "SourceFileLoader () PARTYLINE_PURE is on"


def _names_file_and_line(call: str, installed: Path) -> None:
    told = _run(installed, f"import actors.rule\nactors.rule.{call}")
    assert 'File "actors/rule.py", line 6, in check\n    raise ValueError(' in told.stderr
    assert told.stderr.endswith("ValueError: more than 3\n")


CASES = (
    ("runs compiled", _runs_compiled),
    # Neither a source that was compiled, nor one whose constants went into what was.
    ("an edited source", partial(_never_passes_over_an_edited, "actors/rule.py")),
    ("an edited constant", partial(_never_passes_over_an_edited, "actors/limits.py")),
    ("sources are preferred", _prefers_sources_where_told),
    ("a traceback", partial(_names_file_and_line, "check(4)")),
    ("a traceback through a coroutine", partial(_names_file_and_line, "ask(4).send(None)")),
)
