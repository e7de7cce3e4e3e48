"""The part of the console at a start: a folder that is not the console's is said to be so, in one line."""

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest

from routes.console.static_files import STYLES
from routes.edge.faults import OperatorFault
from tests.contract.sources import ROOT
from tests.support.world import open_world


def _no_folder(_folder: Path) -> str:
    return "No such file or directory"


def _a_file(folder: Path) -> str:
    folder.touch()
    return "Not a directory"


def _empty(folder: Path) -> str:
    folder.mkdir()
    return "is not there"


def _without_a_style_sheet(folder: Path) -> str:
    copytree(ROOT / "routes/console/static", folder)
    (folder / STYLES[0]).unlink()
    return f"{STYLES[0]} is not there"


def _not_understood(folder: Path) -> str:
    copytree(ROOT / "routes/console/static", folder)
    (folder / "boot.js").write_text('import * as all from "./shell.js";\n')
    return "boot.js"


@pytest.mark.parametrize("make", [_no_folder, _a_file, _empty, _without_a_style_sheet, _not_understood])
async def test_what_is_no_console_ends_a_start_in_one_line(
    database_url: str, tmp_path: Path, make: Callable[[Path], str]
) -> None:
    folder = tmp_path / "static"
    why = make(folder)
    with pytest.RaisesGroup(OperatorFault, flatten_subgroups=True, allow_unwrapped=True) as caught:
        async with open_world(database_url, tmp_path / "data", console_source=str(folder)):
            pass
    fault: BaseException = caught.value
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    said = str(fault)
    assert said.startswith(f"PARTYLINE_CONSOLE_SOURCE={folder}: these are not the files of the console: ")
    assert why in said
    assert "\n" not in said
