"""A wheel with compiled modules, of a small project that is compiled as ours is: what runs before and after edits."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.contract.sources import ROOT
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = [
    pytest.mark.slow,
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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("project")
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


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Path:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    return tmp_path


def test_it_is_named_after_its_interpreter_and_runs_compiled(wheel: Path, installed: Path) -> None:
    assert f"-cp{sys.version_info.major}{sys.version_info.minor}-" in wheel.name
    assert (installed / "actors/rule.py").is_file()
    told = _run(installed, TOLD)
    assert told.stdout.splitlines() == ["more than 3", "ExtensionFileLoader ('actors.rule',) None"], (
        told.stderr
    )


@pytest.mark.parametrize("where", ["actors/rule.py", "actors/limits.py"])
def test_an_edited_source_is_never_passed_over(installed: Path, where: str) -> None:
    """Neither one that was compiled, nor one whose constants went into what was."""
    edited = installed / where
    edited.write_text(edited.read_text().replace("more than", "above").replace("= 3", "= 2"))
    told = _run(installed, TOLD)
    assert told.stdout.splitlines() == [
        "above 3" if "rule" in where else "more than 2",
        f"SourceFileLoader () {where} has changed since",
    ], told.stderr


def test_sources_can_be_preferred(installed: Path) -> None:
    told = _run(installed, TOLD, PARTYLINE_PURE="on")
    assert told.stdout.splitlines()[1] == "SourceFileLoader () PARTYLINE_PURE is on"


@pytest.mark.parametrize("call", ["check(4)", "ask(4).send(None)"])
def test_tracebacks_name_file_and_line(installed: Path, call: str) -> None:
    told = _run(installed, f"import actors.rule\nactors.rule.{call}")
    assert 'File "actors/rule.py", line 6, in check\n    raise ValueError(' in told.stderr
    assert told.stderr.endswith("ValueError: more than 3\n")
