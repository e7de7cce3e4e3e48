"""What `words.js` makes of names that are written from the right, in Node, where there is one."""

import json
import subprocess
from pathlib import Path
from shutil import copy, copytree, which

import pytest

from tests.contract.sources import ROOT

STATIC = ROOT / "routes/console/static"

ASK = """
import { readFileSync } from "node:fs";
const languages = { configurable: true, value: { languages: ["en"] } };
Object.defineProperty(globalThis, "navigator", languages);
globalThis.localStorage = { getItem: () => null };
globalThis.document = { documentElement: {} };
globalThis.fetch = async (file) => ({ ok: true, json: async () => JSON.parse(readFileSync(file)) });
const { listed, say } = await import("./words.js");
const { ofRow } = await import("./ui/row.js");
const names = JSON.parse(process.argv[2]);
console.log(JSON.stringify({
  said: names.map((name) => say("chat.writes", { name })),
  listed: listed(names),
  row: ofRow("action.delete", names[0]),
}));
"""

HEBREW, ARABIC = "\u05e9\u05e8\u05ea (1)", "\u0639\u0631\u0628 (2)"


def asked(folder: Path, *names: str) -> dict[str, object]:
    """What a browser without a chosen language would show of some names."""
    if which("node") is None:
        pytest.skip("no Node here: apt-get install nodejs")
    (folder / "ui").mkdir()
    (folder / "package.json").write_text('{"type": "module"}')
    for module in ("words.js", "ui/row.js"):
        copy(STATIC / module, folder / module)
    copytree(STATIC / "text", folder / "text")
    (folder / "ask.js").write_text(ASK)
    command = ["node", "ask.js", json.dumps(names)]
    said: dict[str, object] = json.loads(
        subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout
    )
    return said


def test_each_name_of_a_list_keeps_its_own_order(tmp_path: Path) -> None:
    found = asked(tmp_path, HEBREW, ARABIC, "Ada")
    assert found["listed"] == f"\u2068{HEBREW}\u2069, \u2068{ARABIC}\u2069, and Ada"
    assert found["row"] == {"aria-label": f"Delete: \u2068{HEBREW}\u2069", "children": "Delete"}


def test_signs_that_turn_what_follows_around_end_with_what_has_them(tmp_path: Path) -> None:
    """Names have none of them; notes and settings may, and are said in sentences as well."""
    turning = ["\u202eabc", "\u2067abc", "abc\u200f", "\u202babc"]
    plain = ["Ada", "Zoë – “x”…", "1"]
    found = asked(tmp_path, *turning, *plain)
    assert found["said"] == [
        *(f"\u2068{text}\u2069 is writing…" for text in turning),
        *(f"{text} is writing…" for text in plain),
    ]
