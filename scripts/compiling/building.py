"""Compiles groups of modules by mypyc, and writes down what they were made of.

mypy reads the modules with the types that they have anyway, mypyc makes C of them, and setuptools has that compiled.
"""

import ast
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import chdir
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from compiled.finding import MANIFEST, Manifest, digest_of

OPTIMISATION = "2"
"""The optimisation level of the C compiler: 3 takes half as long again, for no gain that could be measured."""


def build(root: Path, groups: Mapping[str, Sequence[str]], folder: Path) -> Manifest:
    """Compile modules; once all are done, they replace all that were compiled before.

    Args:
        root: the folder with the layers, and with the pyproject.toml that configures mypy.
        groups: names of modules by the name of their group.
        folder: the folder for the shared objects and the manifest; its former content is removed.

    Raises:
        SystemExit: mypy or mypyc refuses a module; why stands on stderr.
        setuptools.errors.CompileError: the C compiler fails.
    """
    objects: dict[str, str] = {}
    modules = [module for group in groups.values() for module in group]
    sources = {path.relative_to(root).as_posix(): digest_of(path) or "" for path in read_by(root, modules)}
    with tempfile.TemporaryDirectory(prefix="partyline-compiling-") as temporary, chdir(root):
        made = Path(temporary, "objects")
        for name, group in groups.items():
            objects |= _compile(name, group, made, Path(temporary, name))
        manifest = Manifest(EXTENSION_SUFFIXES[0], sources, objects)
        (made / MANIFEST).write_text(json.dumps(manifest._asdict(), indent=1))
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)
    return manifest


def read_by(root: Path, modules: Iterable[str]) -> Iterator[Path]:
    """The sources of modules and of all of ours that they import, themselves or through others.

    Args:
        root: the folder with the layers.
        modules: the full names of the modules.
    """
    waiting, seen = list(modules), set()
    while waiting:
        name = waiting.pop()
        path = _source(root, name)
        if path is None or path in seen:
            continue
        seen.add(path)
        yield path
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                waiting += [one.name for one in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                waiting += [node.module, *(f"{node.module}.{one.name}" for one in node.names)]


def _source(root: Path, name: str) -> Path | None:
    path = root / name.replace(".", "/")
    return next((one for one in (path.with_suffix(".py"), path / "__init__.py") if one.is_file()), None)


def _compile(name: str, modules: Sequence[str], made: Path, temporary: Path) -> dict[str, str]:
    """Compile one group; returns its objects, as they stand in a manifest."""
    from mypyc.build import mypycify  # noqa: PLC0415 — takes a second, and is not there where nothing is compiled
    from setuptools import Distribution  # noqa: PLC0415

    paths = [module.replace(".", "/") + ".py" for module in modules]
    extensions = mypycify(
        ["--config-file", "pyproject.toml", *paths],
        opt_level=OPTIMISATION,
        debug_level="0",
        group_name=f"partyline_{name}",
        target_dir=os.fspath(temporary),
    )
    command = Distribution({"name": name, "ext_modules": extensions}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = os.fspath(made), os.fspath(temporary)
    command.ensure_finalized()
    command.run()
    return {one.name: command.get_ext_filename(one.name) for one in extensions}
