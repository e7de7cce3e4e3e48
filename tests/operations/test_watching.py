"""The alerts and the dashboard that we ship read metrics that exist, and the runbook knows each alert."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.sources import ROOT
from tests.edge.certificate import Certificate
from tests.support.world import open_world

ALERTS = ROOT / "deploy" / "alerts.yml"
DASHBOARD = ROOT / "deploy" / "grafana.json"

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None,
    reason="promtool is not installed here (Debian: apt-get install prometheus)",
)


def expressions() -> Iterator[str]:
    """Everything that is asked of Prometheus."""
    yield ALERTS.read_text()
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


@pytest.mark.one_node(because="what operators watch is of the node that answers")
async def test_every_metric_that_is_asked_for_exists(database_url: str, tmp_path: Path) -> None:
    (tmp_path / "tls").mkdir()
    certificate = Certificate(tmp_path / "tls")
    tls = {
        "tls_bind": "127.0.0.1:0",
        "tls_cert": str(certificate.certfile),
        "tls_key": str(certificate.keyfile),
    }
    async with open_world(database_url, tmp_path / "data", **tls) as world:
        await (await world.player("Ann")).get("/v1/auth/verify")
        told = (await world.http.get("/metrics")).text
    known = set(re.findall(r"^(?:# TYPE )?(partyline_\w+)", told, re.MULTILINE))
    asked = {name for text in expressions() for name in re.findall(r"\bpartyline_\w+", text)}
    assert len(asked) > 40
    assert asked - known == set()


def test_the_runbook_has_each_alert() -> None:
    raised = re.findall(r"- alert: (\w+)", ALERTS.read_text())
    assert re.findall(r"^## (\w+)$", (ROOT / "docs" / "runbook.md").read_text(), re.MULTILINE) == raised


@needs_promtool
def test_alerts_are_raised_when_they_should_be(tmp_path: Path) -> None:
    shutil.copy(ALERTS, tmp_path)
    shutil.copy(Path(__file__).with_name("alerts_test.yml"), tmp_path)
    tested = subprocess.run(
        ["promtool", "test", "rules", "alerts_test.yml"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert tested.returncode == 0, tested.stdout + tested.stderr


@needs_promtool
def test_what_the_dashboard_asks_is_understood(tmp_path: Path) -> None:
    """Grafana's variables stand for text; with some in their place, promtool parses each expression."""
    rules = [
        {
            "record": f"panel:{number}",
            "expr": re.sub(r"\$instance", "a", text).replace("$__rate_interval", "5m"),
        }
        for number, text in enumerate(expressions())
        if not text.startswith("#")
    ]
    file = tmp_path / "dashboard.json"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    checked = subprocess.run(
        ["promtool", "check", "rules", file], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
