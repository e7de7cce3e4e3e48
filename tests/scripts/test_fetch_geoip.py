"""scripts/fetch-geoip, from a web server on this machine."""

import gzip
import threading
from collections.abc import Iterator
from datetime import date
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from scripts.geoip.__main__ import CannotFetch, fetch, main, months
from tests.ip import databases

TODAY = date(2026, 1, 3)


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and says nothing."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a web server, and its folder."""
    folder = tmp_path / "site"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", folder
        server.shutdown()
        thread.join()


def a_database(folder: Path) -> bytes:
    path = folder / "made.mmdb"
    databases.write(path)
    content = path.read_bytes()
    path.unlink()
    return content


def test_this_month_then_the_last():
    assert list(months(TODAY)) == ["2026-01", "2025-12"]


@pytest.mark.parametrize("month", ["2026-01", "2025-12"])
def test_the_newest_is_put_in_place(site: tuple[str, Path], tmp_path: Path, month: str):
    address, folder = site
    content = a_database(tmp_path)
    (folder / f"dbip-city-lite-{month}.mmdb.gz").write_bytes(gzip.compress(content))
    path = tmp_path / "new" / "geo.mmdb"
    assert fetch(address, path, TODAY) == month
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.iterdir()] == ["geo.mmdb"]


@pytest.mark.parametrize("kind", ["none", "not gzip", "cut short", "no database"])
def test_what_is_broken_changes_nothing(site: tuple[str, Path], tmp_path: Path, kind: str):
    address, folder = site
    content = a_database(tmp_path)
    file = folder / "dbip-city-lite-2026-01.mmdb.gz"
    if kind == "not gzip":
        file.write_bytes(content)
    elif kind == "cut short":
        file.write_bytes(gzip.compress(content)[:-20])
    elif kind == "no database":
        file.write_bytes(gzip.compress(b"nonsense"))
    path = tmp_path / "geo.mmdb"
    path.write_bytes(b"before")
    with pytest.raises(CannotFetch):
        fetch(address, path, TODAY)
    assert path.read_bytes() == b"before"
    assert not list(tmp_path.glob("*.part"))


def test_of_two_at_once_the_second_leaves_all_to_the_first(
    site: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    address, folder = site
    content = a_database(tmp_path)
    (folder / "dbip-city-lite-2026-01.mmdb.gz").write_bytes(gzip.compress(content))
    path = tmp_path / "geo.mmdb"
    serve, refused = Quiet.do_GET, []

    def fetch_meanwhile(handler: Quiet) -> None:
        if not refused:
            refused.append(handler.path)
            with pytest.raises(CannotFetch, match="another run is fetching") as caught:
                fetch(address, path, TODAY)
            refused.append(str(caught.value))
        serve(handler)

    monkeypatch.setattr(Quiet, "do_GET", fetch_meanwhile)
    assert fetch(address, path, TODAY) == "2026-01"
    assert len(refused) == 2
    assert path.read_bytes() == content
    assert not list(tmp_path.glob("*.part"))


def test_what_a_killed_run_has_left_is_written_anew(site: tuple[str, Path], tmp_path: Path):
    address, folder = site
    content = a_database(tmp_path)
    (folder / "dbip-city-lite-2026-01.mmdb.gz").write_bytes(gzip.compress(content))
    path = tmp_path / "geo.mmdb"
    (tmp_path / "geo.mmdb.part").write_bytes(content + b"longer")
    fetch(address, path, TODAY)
    assert path.read_bytes() == content
    assert not list(tmp_path.glob("*.part"))


def test_it_says_whom_to_name(site: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    address, folder = site
    for month in months(date.today()):
        (folder / f"dbip-city-lite-{month}.mmdb.gz").write_bytes(gzip.compress(a_database(tmp_path)))
    assert main([str(tmp_path / "geo.mmdb"), "--address", address]) == 0
    shown = capsys.readouterr().out
    assert "https://db-ip.com" in shown
    assert f"PARTYLINE_GEOIP_DB={tmp_path / 'geo.mmdb'}" in shown
    assert main([str(tmp_path / "geo.mmdb"), "--address", "http://127.0.0.1:9"]) == 1
    assert "fetch-geoip:" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["http://[::1", "nonsense", "", f"http://{'a' * 70}.b"])
def test_what_is_no_address_is_one_line(tmp_path: Path, address: str, capsys: pytest.CaptureFixture[str]):
    assert main([str(tmp_path / "geo.mmdb"), "--address", address]) == 1
    assert capsys.readouterr().err.startswith(f"fetch-geoip: {address}: ")


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "socks://127.0.0.1:1"])
def test_a_proxy_that_it_cannot_speak_to_is_one_line(
    proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("ALL_PROXY", proxy)
    assert main([str(tmp_path / "geo.mmdb")]) == 1
    assert capsys.readouterr().err.startswith("fetch-geoip: the proxy")


@pytest.mark.parametrize("place", ["file/geo.mmdb", "folder"])
def test_no_place_for_it(site: tuple[str, Path], tmp_path: Path, place: str):
    address, folder = site
    (folder / "dbip-city-lite-2026-01.mmdb.gz").write_bytes(gzip.compress(a_database(tmp_path)))
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    with pytest.raises(CannotFetch, match=place.partition("/")[0]):
        fetch(address, tmp_path / place, TODAY)
    assert not list(tmp_path.glob("**/*.part"))


def test_a_page_that_it_is_redirected_to_is_no_database(site: tuple[str, Path], tmp_path: Path):
    address, folder = site
    (folder / "dbip-city-lite-2026-01.mmdb.gz").mkdir()
    (folder / "dbip-city-lite-2026-01.mmdb.gz" / "index.html").write_bytes(b"not a database")
    with pytest.raises(CannotFetch, match="gzip"):
        fetch(address, tmp_path / "geo.mmdb", TODAY)
    assert not (tmp_path / "geo.mmdb").exists()


@pytest.mark.parametrize("file", ["", ".", "/"])
def test_a_file_that_has_no_name_is_refused(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([file, "--address", "http://127.0.0.1:1"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith("error: argument file: names a folder, or nothing\n")
