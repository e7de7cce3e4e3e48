"""The wheel is whole: installed by itself, its programs run in an empty folder and serve every file they should."""

import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from compiled.finding import OBJECTS
from tests.contract.sources import ROOT
from tests.support.process import ServerProcess, reachable_directory
from tests.support.waiting import PATIENCE_SECONDS

FOLDERS = ("actors", "compiled", "partyline", "persistence", "routes", *(f"scripts/{name}" for name in (
    "game_server", "gateway_node", "geoip", "voice_node",
)))  # fmt: skip
"""Everything that an installation has."""

PROGRAMS = ("partyline-agent", "partyline-fetch-geoip", "partyline-gateway", "partyline-voice")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made from this checkout with what is installed already."""
    folder = tmp_path_factory.mktemp("wheel")
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    build = [sys.executable, "-m", "pip", "wheel", str(ROOT), *offline, "-w", str(folder)]
    subprocess.run(build, check=True, timeout=PATIENCE_SECONDS)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Iterator[Path]:
    """The folder of programs of an environment with the wheel, and with our own environment's libraries behind it."""
    with reachable_directory() as folder:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        python = folder / "bin" / "python"
        offline = ("--no-deps", "--no-index", "--no-compile", "--quiet", "--disable-pip-version-check")
        install = [sys.executable, "-m", "pip", "--python", str(python), "install", *offline, str(wheel)]
        subprocess.run(install, check=True, timeout=PATIENCE_SECONDS)
        (packages,) = folder.glob("lib/python*/site-packages")
        (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"))
        yield folder / "bin"


def test_every_file_of_a_folder_is_in_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file())
    compiled = ROOT / OBJECTS
    assert inside == {
        str(path.relative_to(ROOT))
        for path in files
        if "__pycache__" not in path.parts and compiled not in path.parents
    }


@pytest.mark.drill
async def test_it_serves_from_an_empty_folder(installed: Path) -> None:
    with reachable_directory() as folder:
        server = ServerProcess(folder, settings={"data_dir": ""}, program=installed / "partyline")
        await server.start()
        async with httpx2.AsyncClient(base_url=server.url, timeout=PATIENCE_SECONDS) as client:
            for path in ("/", "/app", "/client/partyline.js", "/docs", "/openapi.json", "/asyncapi.json"):
                assert (await client.get(path)).status_code == 200, path
        assert await server.stop() == 0
        assert sorted(path.name for path in (folder / ".partyline").iterdir()) == [
            "artifacts", "blobs", "keys", "lock", "node", "postgres",
        ]  # fmt: skip


@pytest.mark.drill
def test_its_other_programs_explain_themselves(installed: Path) -> None:
    for name in PROGRAMS:
        told = subprocess.run([installed / name, "--help"], check=True, capture_output=True, text=True)
        assert told.stdout.startswith(f"usage: {name} "), told.stdout
