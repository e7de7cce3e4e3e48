"""Tables as files, made by `ui/csv.js` in Node, where there is one: no cell is a formula, and each is what it was."""

import csv
import io
import json
import subprocess
from pathlib import Path
from shutil import which

import pytest

from tests.console.payloads import PAYLOADS
from tests.contract.sources import ROOT

MODULE = ROOT / "routes/console/static/ui/csv.js"
FORMULAS = ("=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", '="a","b"', "=cmd|' /C calc'!A0", "-", "=")
PLAIN = ("", "1", "a=b", "it's", 'say "hi"', "a,b", "a\nb", " =1", "é\u202e")


@pytest.mark.skipif(which("node") is None, reason="no Node here: apt-get install nodejs")
def test_no_cell_is_a_formula_and_each_is_what_it_was(tmp_path: Path) -> None:
    texts = [*FORMULAS, *PLAIN, *PAYLOADS]
    (tmp_path / "csv.mjs").write_bytes(MODULE.read_bytes())
    asked = 'import { csvOf } from "./csv.mjs"; process.stdout.write(csvOf(JSON.parse(process.argv[2])));'
    (tmp_path / "ask.mjs").write_text(asked)
    rows = [[text, None, 7] for text in texts]
    command = ["node", "ask.mjs", json.dumps(rows)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    cells = list(csv.reader(io.StringIO(done.stdout.decode(), newline="")))
    assert [row[1:] for row in cells] == [["", "7"]] * len(texts)
    for text, (cell, *_) in zip(texts, cells, strict=True):
        assert cell[:1] not in {"=", "+", "-", "@", "\t", "\r", "\n"} or not cell, text
        assert cell == text or cell == f"'{text}"
