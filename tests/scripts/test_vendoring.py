"""Libraries are taken as npm has them, and nothing else passes; without a network."""

import base64
import hashlib
import io
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from scripts.vendoring.packages import BadPackage, Package, verified
from scripts.vendoring.shelf import differences, entries, put
from tests.contract.sources import ROOT

FILES = {
    "package/dist/lib.mjs": b"export const x = 1;\n",
    "package/dist/lib.css": b"x {}\n",
    "package/LICENSE": b"terms\n",
}
VENDORED = (ROOT / "routes/console/static/vendor", ROOT / "tests/console/vendor")


def archive(**changed: bytes) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as opened:
        for name, content in (FILES | changed).items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            opened.addfile(about, io.BytesIO(content))
    return held.getvalue()


def package(name: str = "lib", version: str = "1.0.0", **changed: bytes) -> Package:
    made = archive(**changed)
    return Package(name, version, made, integrity(made))


def integrity(content: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()


def test_files_licence_and_entries_are_written_and_a_former_version_goes(tmp_path: Path):
    put(tmp_path, package("@some/lib"), [("dist/lib.mjs", "lib.js")])
    assert (tmp_path / "lib.js").read_bytes() == FILES["package/dist/lib.mjs"]
    assert (tmp_path / "some-lib.LICENSE").read_bytes() == b"terms\n"
    files = [("dist/lib.mjs", "lib.js"), ("dist/lib.css", "lib.css")]
    put(tmp_path, package("@some/lib", "1.1.0"), files)
    assert [(one.version, one.file) for one in entries(tmp_path)] == [
        ("1.1.0", "lib.js"),
        ("1.1.0", "lib.css"),
    ]


def test_what_is_not_what_its_integrity_says_is_refused():
    verified(package())
    for wrong in (integrity(b"other"), "sha1-" + base64.b64encode(b"x" * 20).decode()):
        with pytest.raises(BadPackage):
            verified(package()._replace(integrity=wrong))


def test_a_file_that_is_missing_leaves_everything_as_it_was(tmp_path: Path):
    with pytest.raises(BadPackage):
        put(tmp_path, package(), [("dist/other.mjs", "lib.js")])
    assert list(tmp_path.iterdir()) == []


def test_what_differs_from_the_registry_is_named(tmp_path: Path):
    put(tmp_path, package(), [("dist/lib.mjs", "lib.js")])
    assert differences(tmp_path, lambda _: package()) == []
    other = package(**{"package/dist/lib.mjs": b"steal()\n", "package/LICENSE": b"others\n"})
    said = differences(tmp_path, lambda _: other)
    assert [line.partition(":")[0] for line in said] == ["lib@1.0.0", "lib.js", "lib.LICENSE"]


@pytest.mark.parametrize("folder", VENDORED, ids=lambda folder: folder.relative_to(ROOT).parts[0])
def test_what_lies_here_is_what_was_taken(folder: Path):
    kept = entries(folder)
    assert {one.file for one in kept} == {
        path.name for path in folder.iterdir() if path.suffix in {".js", ".css"}
    }
    for one in kept:
        assert hashlib.sha256((folder / one.file).read_bytes()).hexdigest() == one.sha256
        assert len(base64.b64decode(one.integrity.removeprefix("sha512-"))) == hashlib.sha512().digest_size


def test_it_explains_itself():
    asked = [sys.executable, "-m", "scripts.vendoring", "--help"]
    shown = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "--check" in shown.stdout
