"""The names of browsers that `ui/browser-name.js` makes of what they call themselves, in Node, where there is one."""

import json
import subprocess
from pathlib import Path
from shutil import copy, which

import pytest

from tests.contract.sources import ROOT

MODULE = ROOT / "routes/console/static/ui/browser-name.js"
WINDOWS, MAC, LINUX = "Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64"
WEBKIT, GECKO = "AppleWebKit/537.36 (KHTML, like Gecko)", "Gecko/20100101"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
ANDROID = "Linux; Android 10; K"

NAMES = {
    f"Mozilla/5.0 ({LINUX}) {WEBKIT} Chrome/156.0.0.0 Safari/537.36": "Chrome 156/Linux",
    f"Mozilla/5.0 ({LINUX}) {WEBKIT} HeadlessChrome/156.0.0.0 Safari/537.36": "Chrome 156/Linux",
    f"Mozilla/5.0 ({LINUX}) {WEBKIT} Ubuntu Chromium/80.0.1 Chrome/80.0.1 Safari/537.36": "Chromium 80/Linux",
    f"Mozilla/5.0 ({WINDOWS}) {WEBKIT} Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0": "Edge 156/Windows",
    f"Mozilla/5.0 ({WINDOWS}) {WEBKIT} Chrome/156.0.0.0 Safari/537.36 OPR/130.0.0.0": "Opera 130/Windows",
    f"Mozilla/5.0 ({WINDOWS}) {WEBKIT} Chrome/156.0.0.0 Safari/537.36 Vivaldi/7.1.1": "Vivaldi 7/Windows",
    f"Mozilla/5.0 ({WINDOWS}; rv:150.0) {GECKO} Firefox/150.0": "Firefox 150/Windows",
    f"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) {WEBKIT} Chrome/156.0.0.0 Safari/537.36": "Chrome 156/ChromeOS",
    f"Mozilla/5.0 ({MAC}) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15": "Safari 26/macOS",
    f"{IPHONE} Version/18.1 Mobile/15E148 Safari/604.1": "Safari 18/iPhone",
    f"{IPHONE} CriOS/156.0.1 Mobile/15E148 Safari/604.1": "Chrome 156/iPhone",
    f"{IPHONE} FxiOS/150.0 Mobile/15E148 Safari/605.1.15": "Firefox 150/iPhone",
    f"Mozilla/5.0 ({ANDROID}) {WEBKIT} Chrome/156.0.0.0 Mobile Safari/537.36": "Chrome 156/Android",
    f"Mozilla/5.0 ({ANDROID}) {WEBKIT} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36": (
        "Samsung Internet 28/Android"
    ),
    "Mozilla/5.0 (Android 15; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0": "Firefox 150/Android",
    f"Mozilla/5.0 ({LINUX}) {WEBKIT} Launcher/1.2 Chrome/130.0.1 Electron/33.0.2 Safari/537.36": "Electron 33/Linux",
    # What is not known is shown as it was sent.
    "": None,
    "curl/8.14.1": None,
    "python-httpx2/1.0": None,
    "Mozilla/5.0": None,
    f"Mozilla/5.0 ({LINUX}) {WEBKIT}": None,
    "<b>Chrome/1</b>": None,
}


@pytest.mark.skipif(which("node") is None, reason="no Node here: apt-get install nodejs")
def test_what_browsers_are_called(tmp_path: Path) -> None:
    copy(MODULE, tmp_path / "names.mjs")
    asked = """
        import { browserOf } from "./names.mjs";
        const found = JSON.parse(process.argv[2]).map(browserOf);
        console.log(JSON.stringify(found.map((one) => one && `${one.browser}/${one.system}`)));
    """
    (tmp_path / "ask.mjs").write_text(asked)
    command = ["node", "ask.mjs", json.dumps(list(NAMES))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert dict(zip(NAMES, json.loads(done.stdout), strict=True)) == NAMES
