"""The client is apart from the server: importing it loads no part of that, and its example runs as it is written."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from tests.contract.sources import ROOT
from tests.support.waiting import PATIENCE_SECONDS, patience
from tests.support.world import World

LOADED = """
import sys, partyline.client, partyline.client.blocking, partyline.client.types
found = {name.split(".")[0] for name in sys.modules}
kernel = [name for name in sys.modules if name.startswith(("actors.kernel", "persistence.bridge"))]
print(*sorted(found & {"routes", "quart", "hypercorn", "asyncpg", "scripts", "trio"}), *kernel)
"""


@pytest.mark.slow
def test_importing_it_loads_nothing_of_the_server():
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
    )
    assert done.stdout.strip() == ""


def examples() -> dict[str, str]:
    """The programs of the page, by their headings."""
    page = (ROOT / "docs/client-python.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^## (.*?)\n.*?^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heading", "backend"), [("Ten lines", "trio"), ("Ten lines", "asyncio"), ("Without either", None)]
)
async def test_the_example_runs(world: World, tmp_path: Path, heading: str, backend: str | None):
    ann, ben = await world.players("Ann", "Ben")
    program = tmp_path / "talk.py"
    program.write_text(examples()[heading].replace('"trio"', f'"{backend}"'))
    with patience():
        done = await trio.run_process(
            [sys.executable, str(program), world.url, ann.token or "", ben.id],
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    assert (done.stdout.decode(), done.returncode) == ("Ann: hello\n", 0), done.stderr.decode()
