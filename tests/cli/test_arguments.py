"""The files that a command is given: what is none is refused before anything is done."""

import subprocess
import sys
from uuid import uuid4

import pytest

from routes.cli.main import main
from tests.contract.sources import ROOT


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("backup", ""), "argument FILE: is empty"),
        (("backup", "-"), "argument FILE: is written to a file, not to standard output"),
        (("backup", "--passphrase-file", "", "file"), "argument --passphrase-file: is empty"),
        (("restore", ""), "argument FILE: is empty"),
        (("export", "--user", str(uuid4()), ""), "argument FILE: is empty"),
        (
            ("export", "--user", str(uuid4()), "-"),
            "argument FILE: is written to a file, not to standard output",
        ),
        (("upgrade-database", "--old-bin", ""), "argument --old-bin: is empty"),
        (("archive", "import", ""), "argument FILE: is empty"),
        (("catalog", "import", ""), "argument FILE: is empty"),
    ],
)
def test_a_file_that_is_none_is_refused_before_anything_is_done(capsys, command, said):
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"error: {said}\n")


@pytest.mark.parametrize("module", ["routes", "routes.cli"])
def test_a_package_that_is_run_is_the_command_line(module):
    run = [sys.executable, "-m", module, "--version"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout
