"""`scripts/new-domain NAME [--live]`: writes a new domain into each layer, lists it, and runs its test.

The domain is small and whole: something with a title that belongs to a user. With `--live` each is an actor that can
be watched, and so can the list of all that a user has. What is written is a beginning to be changed, not a framework.
"""

import argparse
import keyword
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = Path(__file__).resolve().parent / "templates"
MAX_NAME = 24  # characters: longer ones break lines of what is written
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


class CannotWrite(Exception):
    """The domain cannot be written; the message says why."""


@dataclass(frozen=True, slots=True)
class Names:
    """The spellings of one domain's name: `game_badges`.

    Args:
        domain: the name of the modules and in paths, `game_badges`.
        thing: the name of one of its things, `game_badge`.
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


def names_of(name: str, thing: str | None = None) -> Names:
    """The spellings of a domain's name.

    Args:
        name: the domain's name.
        thing: the name of one of its things; left out, that of the domain without a final `s`.

    Raises:
        CannotWrite: a text cannot be the name of a module.
    """
    names = Names(name, thing or (name.removesuffix("s") if len(name) > 2 else name))
    for spelling in (names.domain, names.thing):
        if not _NAME.fullmatch(spelling) or len(spelling) > MAX_NAME:
            raise CannotWrite(f"{spelling} is not a name: small letters, digits, underscores, at most 24")
        if keyword.iskeyword(spelling):
            raise CannotWrite(
                f"{spelling} is a word of Python; say --thing, where it is made of the domain's name"
            )
    return names


def write_domain(root: Path, name: str, live: bool, thing: str | None = None) -> list[Path]:
    """Write all files of a domain below `root`, and return their paths.

    Outside of the domain's own folders, and its migration, one line is added: in `routes/domains.py`, with its import.

    Args:
        root: the root of the checkout.
        name: the domain's name.
        live: whether it has an actor, streams and a channel.
        thing: as for `names_of`.

    Raises:
        CannotWrite: the name is taken or bad, or a table is not where it is expected; nothing was written.
    """
    names = names_of(name, thing)
    _check_free(root, name)
    contents = root / "routes" / "domains.py"
    texts = {contents: _listed_among_domains(contents.read_text(encoding="utf-8"), names)}
    templates = TEMPLATES / ("live" if live else "plain")
    for template in sorted(templates.rglob("*.txt")):
        path = root / _place_of(template.relative_to(templates), names, root)
        texts[path] = names.fill(template.read_text(encoding="utf-8"))
    for path, text in texts.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(texts)


def _check_free(root: Path, name: str) -> None:
    for layer in ("routes", "actors", "persistence", "tests"):
        for path in (root / layer / name, root / layer / f"{name}.py"):
            if path.exists():
                raise CannotWrite(f"there is a domain {name} already: {path.relative_to(root)}")


def _place_of(template: Path, names: Names, root: Path) -> Path:
    """Where a file of a template belongs: `actors/kind.py.txt` in `actors/<domain>/kind.py`."""
    if template.name == "migration.sql.txt":
        made = (root / "persistence" / "migrations").glob("[0-9][0-9][0-9][0-9]_*.sql")
        number = 1 + max(int(path.name[:4]) for path in made)
        return Path("persistence", "migrations", f"{number:04d}_{names.domain}.sql")
    return Path(template.parts[0], names.domain, names.fill(template.name).removesuffix(".txt"))


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


def tidy(root: Path, paths: list[Path]) -> None:
    """Order imports and format, as `scripts/check` wants it.

    Args:
        paths: what was written; files that are not Python stay as they are.

    Raises:
        subprocess.CalledProcessError: what was written does not even parse.
    """
    ruff = [sys.executable, "-m", "ruff"]
    files = [str(path) for path in paths if path.suffix == ".py"]
    subprocess.run([*ruff, "check", "--quiet", "--fix", "--select", "I", *files], cwd=root, check=True)
    subprocess.run([*ruff, "format", "--quiet", *files], cwd=root, check=True)


def main() -> int:
    """Run the command line."""
    it = argparse.ArgumentParser(prog="scripts/new-domain", description=__doc__)
    it.add_argument("name", metavar="NAME", help="of the modules and in paths, best a plural: badges")
    it.add_argument("--live", action="store_true", help="with actors, streams and a channel to watch them")
    it.add_argument(
        "--thing", metavar="NAME", help="of one of them, where it is not NAME without its s: story"
    )
    options = it.parse_args()
    try:
        written = write_domain(ROOT, options.name, options.live, options.thing)
    except CannotWrite as error:
        print(f"scripts/new-domain: {error}", file=sys.stderr)
        return 2
    tidy(ROOT, written)
    for path in written:
        print(path.relative_to(ROOT))
    tests = str(ROOT / "tests" / options.name)
    return subprocess.run([sys.executable, "-m", "pytest", "-q", tests], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
