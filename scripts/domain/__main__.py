"""`scripts/new-domain NAME [--live]`: writes a new domain into each layer, lists it, and runs its test.

The domain is small and whole: something with a title that belongs to a user. With `--live` it is an actor
that can be watched. What is written is a beginning to be changed, not a framework.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = Path(__file__).resolve().parent / "templates"
MAX_NAME = 24  # characters: longer ones break lines of what is written
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


Change = Callable[[str, "Names"], str]
"""From a file's text to its new text."""


class CannotWrite(Exception):
    """The domain cannot be written; the message says why."""


@dataclass(frozen=True, slots=True)
class Names:
    """The spellings of one domain's name: `game_badges`.

    Args:
        domain: of the modules and in paths, `game_badges`.
        thing: one of them, `game_badge`.
    """

    domain: str
    thing: str

    def fill(self, template: str) -> str:
        """The template with every spelling in its place."""
        camel = "".join(part.capitalize() for part in self.thing.split("_"))
        article = "an" if self.thing[0] in "aeiou" else "a"
        spellings = {
            "@domain@": self.domain,
            "@thing@": self.thing,
            "@words@": self.thing.replace("_", " "),
            "@Thing@": camel,
            "@THING@": self.thing.upper(),
            "@DOMAIN@": self.domain.upper(),
            "@path@": self.domain.replace("_", "-"),
            "@plural@": self.domain.replace("_", " "),
            "@Things@": self.domain.replace("_", " ").capitalize(),
            "@wire@": camel[0].lower() + camel[1:],
            "@an@": article,
            "@An@": article.capitalize(),
        }
        return re.sub(r"@\w+@", lambda found: spellings[found[0]], template)


def names_of(name: str) -> Names:
    """The spellings of a name as given; a plural's singular is without its `s`.

    Raises:
        CannotWrite: it is not the name of a module.
    """
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        raise CannotWrite(f"{name} is not a module's name: small letters, digits, underscores, at most 24")
    return Names(name, name.removesuffix("s") if len(name) > 2 else name)


def write_domain(root: Path, name: str, live: bool) -> list[Path]:
    """Write all files of a domain below `root`; returns those that are Python.

    Args:
        root: of the checkout.
        name: of the domain.
        live: with an actor and a stream.

    Raises:
        CannotWrite: the name is taken or bad, or a table is not where it is expected; nothing was written.
    """
    names, sort = names_of(name), "live" if live else "plain"
    number = 1 + max(
        int(path.name[:4])
        for path in (root / "persistence" / "migrations").glob("[0-9][0-9][0-9][0-9]_*.sql")
    )
    files = {
        root / "routes" / name / "__init__.py": "package.py.txt",
        root / "routes" / name / "domain.py": f"{sort}_domain.py.txt",
        root / "routes" / name / f"{name}.py": f"{sort}_routes.py.txt",
        root / "actors" / f"{name}.py": f"{sort}_actors.py.txt",
        root / "persistence" / f"{name}.py": f"{sort}_persistence.py.txt",
        root / "persistence" / "migrations" / f"{number:04d}_{name}.sql": f"{sort}_migration.sql.txt",
        root / "tests" / f"test_{name}.py": f"{sort}_tests.py.txt",
    }
    taken = [
        path for layer in ("routes", "actors", "persistence") for path in (root / layer).glob(f"{name}*")
    ]
    if any(path.stem == name for path in taken):
        raise CannotWrite(f"there is a domain {name} already: {taken[0].relative_to(root)}")
    edited: dict[Path, Change] = {
        root / "routes" / "domains.py": _listed_among_domains,
        root / "tests" / "contract" / "endpoints.csv": _listed(sort),
    }
    texts = {path: change(path.read_text(encoding="utf-8"), names) for path, change in edited.items()}
    for path, template in files.items():
        texts[path] = names.fill((TEMPLATES / template).read_text(encoding="utf-8"))
    for path, text in texts.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [path for path in texts if path.suffix == ".py"]


def _listed_among_domains(text: str, names: Names) -> str:
    """routes/domains.py with the domain's import, and its line in DOMAINS."""
    begun = re.search(r"^DOMAINS\b[^(]*\(\n(?:.*\n)*?\)", text, re.MULTILINE)
    imported = re.search(r"^from routes\.", text, re.MULTILINE)
    if begun is None or imported is None:
        raise CannotWrite("routes/domains.py has no DOMAINS, or imports no domain")
    record = names.fill("@DOMAIN@")
    at = begun.end() - 1
    text = text[:at] + f"    {record},\n" + text[at:]
    line = f"from routes.{names.domain}.domain import {record}\n"
    return text[: imported.start()] + line + text[imported.start() :]


def _listed(sort: str) -> Change:
    """The change that adds the domain's rows to the table of endpoints."""
    rows = (TEMPLATES / f"{sort}_endpoints.csv.txt").read_text(encoding="utf-8")
    return lambda text, names: text + names.fill(rows)


def tidy(root: Path, paths: list[Path]) -> None:
    """Order imports and format, as `scripts/check` wants it.

    Raises:
        subprocess.CalledProcessError: what was written does not even parse.
    """
    ruff = [sys.executable, "-m", "ruff"]
    files = [str(path) for path in paths]
    subprocess.run([*ruff, "check", "--quiet", "--fix", "--select", "I", *files], cwd=root, check=True)
    subprocess.run([*ruff, "format", "--quiet", *files], cwd=root, check=True)


def main() -> int:
    """Run the command line."""
    it = argparse.ArgumentParser(prog="scripts/new-domain", description=__doc__)
    it.add_argument("name", metavar="NAME", help="of the modules and in paths, best a plural: badges")
    it.add_argument("--live", action="store_true", help="with an actor, and a stream to watch it")
    options = it.parse_args()
    try:
        written = write_domain(ROOT, options.name, options.live)
    except CannotWrite as error:
        print(f"scripts/new-domain: {error}", file=sys.stderr)
        return 2
    tidy(ROOT, written)
    for path in written:
        print(path.relative_to(ROOT))
    if options.live:
        node = options.name.replace("_", "-")
        print(f"Say in actors/users/permissions.py which role holds {node}:read and {node}:write.")
    test = ROOT / "tests" / f"test_{options.name}.py"
    return subprocess.run([sys.executable, "-m", "pytest", "-q", str(test)], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
