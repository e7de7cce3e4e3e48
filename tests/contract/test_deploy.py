"""What we ship to run the service with is in order: names of settings and files, and how far systemd confines it."""

import json
import re
import shutil
import subprocess
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from routes.config.config import read_config
from routes.config.settings import PREFIX, SETTINGS
from tests.contract.sources import OF_THE_BUILD, ROOT

SHIPPED = [
    ROOT / "Dockerfile",
    ROOT / "compose.yaml",
    ROOT / "compose.cluster.yaml",
    *sorted((ROOT / "deploy").iterdir()),
]

MOST_EXPOSED = 1.5
"""Of ten, as systemd-analyze counts; a service without any confinement has 9.6."""


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_only_settings_that_exist_are_named(path: Path) -> None:
    known = {setting.name for setting in SETTINGS} | {OF_THE_BUILD}
    assert set(re.findall(rf"{PREFIX}[A-Z_]+", path.read_text())) <= known


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    sources = {source for sources in copied for source in sources}
    assert {source for source in sources if not (ROOT / source).exists()} == set()
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert kept == sources


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed here")
def test_systemd_takes_the_unit_and_confines_it(tmp_path: Path) -> None:
    unit = tmp_path / "partyline.service"
    text = (ROOT / "deploy" / "partyline.service").read_text()
    unit.write_text(text.replace("/opt/partyline/bin/partyline", "/bin/true"))
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=no", unit],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (verified.returncode, verified.stderr) == (0, "")
    rated = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", unit],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = re.search(r"Overall exposure level for partyline.service: ([0-9.]+)", rated.stdout)
    assert found is not None
    assert float(found[1]) <= MOST_EXPOSED


def the_cluster() -> dict[str, Any]:
    """`compose.cluster.yaml`, with merged keys."""
    made: dict[str, Any] = yaml.safe_load((ROOT / "compose.cluster.yaml").read_text())
    return made


def the_network(composed: dict[str, Any], name: str) -> dict[str, str]:
    """The addresses of a network of a composed file."""
    [made] = composed["networks"][name]["ipam"]["config"]
    return dict(made)


def test_nobody_is_given_the_balancers_address_before_it_starts() -> None:
    cluster = the_cluster()
    network = the_network(cluster, "before")
    subnet, given = ip_network(network["subnet"]), ip_network(network["ip_range"])
    kept = {network["gateway"], cluster["services"]["balancer"]["networks"]["before"]["ipv4_address"]}
    assert given.subnet_of(subnet)  # type: ignore[arg-type]
    assert all(ip_address(address) in subnet and ip_address(address) not in given for address in kept)
    assert len(kept) == 2


def test_the_proxy_on_the_host_is_believed_where_there_is_one_service() -> None:
    composed = yaml.safe_load((ROOT / "compose.yaml").read_text())
    trusted = composed["services"]["partyline"]["environment"]["PARTYLINE_TRUSTED_PROXIES"]
    assert trusted == the_network(composed, "partyline")["gateway"]


def test_the_nodes_of_the_cluster_differ_in_their_folder_alone() -> None:
    cluster = the_cluster()
    nodes = {name: it for name, it in cluster["services"].items() if name.startswith("node")}
    assert len(nodes) == 3
    for name, node in nodes.items():
        assert node["environment"] == nodes["node1"]["environment"]
        assert node["volumes"] == [f"{name}:/data", "shared:/shared"]
        # One makes keys and tables, before there is another.
        assert set(node["depends_on"]) == ({"postgres", "nats"} if name == "node1" else {"node1"})
    volumes = {line.split(":")[0] for it in cluster["services"].values() for line in it.get("volumes", ())}
    assert {name for name in volumes if not name.startswith(".")} == cluster["volumes"].keys()


def test_the_settings_of_the_cluster_are_taken_and_lead_to_what_is_there() -> None:
    cluster = the_cluster()
    services, given = cluster["services"], {"POSTGRES_PASSWORD": "p1", "NATS_PASSWORD": "p2"}

    def filled(text: str) -> str:
        return re.sub(r"\$\{(\w+):[?-]([^}]*)\}", lambda found: given.get(found[1], found[2]), text)

    settings = {name: filled(value) for name, value in services["node1"]["environment"].items()}
    config = read_config({"PARTYLINE_DATA_DIR": "/data", "PARTYLINE_BIND": "0.0.0.0:8080", **settings})
    database, nats = urlsplit(config.database_url or ""), urlsplit((config.nats_url or ("",))[0])
    postgres = services["postgres"]["environment"]
    named = {"POSTGRES_USER": database.username, "POSTGRES_DB": database.path[1:], "POSTGRES_PASSWORD": "p1"}
    assert {name: filled(value) for name, value in postgres.items()} == named
    assert (database.hostname, database.port, database.password) == ("postgres", 5432, "p1")
    asked = [filled(word) for word in services["nats"]["command"]]
    options = dict(zip(asked[::2], asked[1::2], strict=True))
    assert (nats.hostname, str(nats.port)) == ("nats", options["--port"])
    assert (nats.username, nats.password) == (options["--user"], options["--pass"])
    assert options["--http_port"] in services["nats"]["healthcheck"]["test"][-1]
    # Who is believed is the balancer and the proxy before it, which comes from the gateway; and everybody who has to be
    # reached is in a network with who asks.
    balancer = services["balancer"]["networks"]["before"]["ipv4_address"]
    gateway = the_network(cluster, "before")["gateway"]
    assert {str(proxy) for proxy in config.trusted_proxies} == {f"{gateway}/32", f"{balancer}/32"}
    joined = {name: set(it["networks"]) for name, it in services.items()}
    assert all(joined["node1"] & joined[name] for name in services)
    assert not joined["balancer"] & (joined["postgres"] | joined["nats"])


def test_who_waits_for_a_service_waits_for_a_check_that_it_has() -> None:
    services = the_cluster()["services"]
    for it in services.values():
        for name, how in it.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"}
            assert services[name]["healthcheck"]["test"][0] == "CMD"


@pytest.mark.skipif(shutil.which("caddy") is None, reason="caddy is not installed here")
def test_the_balancer_of_the_cluster_knows_its_nodes() -> None:
    adapted = subprocess.run(
        ["caddy", "adapt", "--adapter", "caddyfile", "--config", ROOT / "deploy" / "cluster.Caddyfile"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    [server] = json.loads(adapted.stdout)["apps"]["http"]["servers"].values()
    cluster = the_cluster()
    bind = read_config({"PARTYLINE_BIND": "0.0.0.0:8080"}).bind
    dialled = re.findall(r'"dial": ?"([^"]+)"', json.dumps(server))
    assert set(dialled) == {f"node{number}:{bind[0].port}" for number in (1, 2, 3)}
    assert len(dialled) == 6  # heartbeats, and all else
    [published] = cluster["services"]["balancer"]["ports"]
    assert published.rpartition(":")[2] == server["listen"][0][1:]
    assert server["listen"] == [":8080"]
    gateway = the_network(cluster, "before")["gateway"]
    assert set(re.findall(r'"trusted_proxies": \["([^"]+)"\]', json.dumps(server))) == {gateway}
