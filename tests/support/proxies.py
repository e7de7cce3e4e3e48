"""nginx, Caddy and HAProxy with the configurations that we ship, on a free port of the loopback."""

import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio

from tests.contract.sources import ROOT
from tests.edge.certificate import Certificate
from tests.support.process import free_port
from tests.support.waiting import wait_until

DEPLOY = ROOT / "deploy"


@dataclass(frozen=True)
class Place:
    """Where a proxy runs for a test: its folder, its port, the port of the service, and its certificate."""

    folder: Path
    port: int
    upstream: str
    certificate: Certificate


def nginx(place: Place) -> list[str]:
    """The command that runs nginx with our site; everything that it writes lies in the folder."""
    site = (DEPLOY / "nginx.conf").read_text()
    site = re.sub(r"listen \[::\]:.*\n", "", site)
    site = site.replace("listen 80;", f"listen 127.0.0.1:{free_port()};")
    site = site.replace("listen 443 ", f"listen 127.0.0.1:{place.port} ")
    site = site.replace("127.0.0.1:8080", place.upstream)
    site = re.sub(r"ssl_certificate .*;", f"ssl_certificate {place.certificate.certfile};", site)
    site = re.sub(r"ssl_certificate_key .*;", f"ssl_certificate_key {place.certificate.keyfile};", site)
    (place.folder / "site.conf").write_text(site)
    kinds = "\n".join(
        f"{kind}_temp_path {place.folder}/{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = place.folder / "main.conf"
    main.write_text(
        f"daemon off; pid {place.folder}/pid; worker_processes 1; error_log stderr;\n"
        f"events {{}}\nhttp {{ access_log off; {kinds} include {place.folder}/site.conf; }}\n"
    )
    return ["nginx", "-p", str(place.folder), "-e", "stderr", "-c", str(main)]


def caddy(place: Place) -> list[str]:
    """The command that runs Caddy with our site."""
    site = (DEPLOY / "Caddyfile").read_text().replace("127.0.0.1:8080", place.upstream)
    tls = f"tls {place.certificate.certfile} {place.certificate.keyfile}"
    site = site.replace(
        "partyline.example.net {", f"https://127.0.0.1:{place.port} {{\n\tbind 127.0.0.1\n\t{tls}\n"
    )
    file = place.folder / "Caddyfile"
    file.write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + site)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(file)]


def haproxy(place: Place) -> list[str]:
    """The command that runs HAProxy with our site."""
    bundle = place.folder / "bundle.pem"
    parts = (place.certificate.certfile, place.certificate.keyfile)
    bundle.write_text("".join(Path(part).read_text() for part in parts))
    site = (DEPLOY / "haproxy.cfg").read_text().replace("127.0.0.1:8080", place.upstream)
    site = re.sub(r"bind :::.*\n", "", site)
    site = site.replace("bind :80", f"bind 127.0.0.1:{free_port()}")
    site = site.replace("bind :443", f"bind 127.0.0.1:{place.port}")
    site = site.replace("/etc/haproxy/partyline.example.net.pem", str(bundle))
    file = place.folder / "haproxy.cfg"
    file.write_text(site)
    return ["haproxy", "-db", "-f", str(file)]


PROXIES: dict[str, Callable[[Place], list[str]]] = {"nginx": nginx, "caddy": caddy, "haproxy": haproxy}


@asynccontextmanager
async def proxied(name: str, upstream: str, folder: Path) -> AsyncIterator[tuple[str, Certificate]]:
    """Run a proxy for the block; yields its base address and its certificate.

    Args:
        name: one of `PROXIES`; the test is skipped where the program is not installed.
        upstream: host and port of the service.
        folder: the folder for the proxy's files.
    """
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed here (Debian: apt-get install {name})")
    place = Place(folder, free_port(), upstream, Certificate(folder))
    command = PROXIES[name](place)
    with (folder / "log").open("wb") as log:
        home = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder)}
        process = await trio.lowlevel.open_process(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=home
        )
    try:
        await wait_until(lambda: _listens(place.port, process, folder))
        yield f"https://127.0.0.1:{place.port}", place.certificate
    finally:
        process.terminate()
        with trio.CancelScope(shield=True):
            await process.wait()


async def _listens(port: int, process: trio.Process, folder: Path) -> bool:
    assert process.poll() is None, (folder / "log").read_text()
    try:
        stream = await trio.open_tcp_stream("127.0.0.1", port)
    except OSError:
        return False
    await stream.aclose()
    return True
