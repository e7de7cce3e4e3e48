"""Changes of rows in every domain, as requests: one for each sort (`tests/<domain>/lost.py`)."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TypeAlias

from routes.domains import DOMAINS
from tests.contract.sources import ROOT
from tests.support.losing import Lost
from tests.support.world import World

Case: TypeAlias = Callable[[World], Awaitable[Lost]]

CASES: dict[str, tuple[Case, ...]] = {
    domain.name: import_module(f"tests.{domain.name}.lost").CASES
    for domain in DOMAINS
    if (ROOT / "tests" / domain.name / "lost.py").exists()
}
"""{domain: its changes}"""
