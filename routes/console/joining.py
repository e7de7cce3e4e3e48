"""Joins modules that are needed together into one file, so that a browser requests five files and not fifty.

Each module stands in its file as it is written, line by line, in a function of its own; only its imports and exports
are rewritten, and comments are left out. This is no bundler: nothing is renamed or minified, libraries stay files
of their own, and what it does not understand it refuses at the start. A source map shows the original modules.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from routes.console.source_map import Start, source_map

JOINED = "joined/"
"""The folder in which joined files are served."""

CONSOLE = JOINED + "console.js"
"""The joined file with the entry module and what it needs."""

IMPORTS = {
    "htm": "vendor/htm.js",
    "partyline": "client/partyline.js",
    "preact": "vendor/preact.js",
    "preact/hooks": "vendor/preact-hooks.js",
    "@preact/signals": "vendor/signals.js",
    "@preact/signals-core": "vendor/signals-core.js",
    "uplot": "vendor/uplot.js",
}
"""{name that modules import: file}."""

LIBRARIES = {name: path for name, path in IMPORTS.items() if path.startswith("vendor/")}
"""The third-party libraries, which are not joined; the browser finds them by an import map."""

_IMPORT = re.compile(r'^import (?:(\w+)|\{([^}]*)\}) from "([^"]+)";', re.MULTILINE)
_EXPORT = re.compile(
    r"^export (default )?(?=(?:async )?(?:function|class|const) (\w+))|^export \{([^}]*)\};", re.MULTILINE
)
_COMMENT = re.compile(
    r"^ *(?://[^\n]*|/\*\*.*?\*/)$"
    r"""|(?<=[;{},)]) +// [^\n"'`]*$""",  # at the end of a line; no quote after it, so it stands in no text
    re.MULTILINE | re.DOTALL,
)
_ON_DEMAND = re.compile(r'\bimport\("([^"]+)"\)')
_NOT_UNDERSTOOD = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def joined(contents: Mapping[str, bytes], entry: str) -> dict[str, bytes]:
    """All joined files: one with the entry and what it needs, one for each module that is imported on demand with what
    it alone needs, and each module that several of those need by itself.

    Args:
        contents: {path: bytes} of all files.
        entry: the module that the page starts with; it runs last in its file.

    Returns:
        {path: bytes} of the joined files, and of a `.map` beside each; a file exports `modules`, {path of a module:
            what it exports}.

    Raises:
        ValueError: a module imports one that does not exist, imports form a cycle, or a module is written in a way that
            is not understood here.
    """
    texts = {
        # Each ends its last line, which may be a comment and would take in whatever is added behind it.
        path: _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), content.decode().rstrip("\n") + "\n")
        for path, content in contents.items()
        if path.endswith(".js") and not path.startswith("vendor/")
    }
    file_of = _files_of(texts, entry)
    files: dict[str, list[str]] = {}
    for path in _in_order(texts, [*sorted(texts.keys() - {entry}), entry]):
        if path in file_of:
            files.setdefault(file_of[path], []).append(path)
    made: dict[str, bytes] = {}
    for file, paths in files.items():
        made |= _file(file, [(path, texts[path]) for path in paths], file_of)
    return made


def _files_of(texts: Mapping[str, str], entry: str) -> dict[str, str]:
    """{path of a module that is reached: the file that it belongs to}."""
    on_demand = {
        _path_of_import(path, name, texts)
        for path, text in texts.items()
        for name in _ON_DEMAND.findall(text)
    }
    file_of = dict.fromkeys(_in_order(texts, [entry]), CONSOLE)
    for begin in sorted(on_demand - file_of.keys()):
        for path in _in_order(texts, [begin]):
            if file_of.get(path) != CONSOLE:
                # A second file needs this module too, so it becomes a file of its own.
                file_of[path] = _file_from(path if path in file_of else begin)
    return file_of


def _file_from(path: str) -> str:
    return JOINED + path.replace("/", "-")


def _in_order(texts: Mapping[str, str], wanted: Sequence[str]) -> list[str]:
    """The modules that are wanted, each after those that it imports, which come with it."""
    done: dict[str, None] = {}
    begun: set[str] = set()

    def visit(path: str) -> None:
        if path in done:
            return
        if path in begun:
            raise ValueError(f"imports of {path} go in a circle")
        begun.add(path)
        for *_, name in _IMPORT.findall(texts[path]):
            if name not in LIBRARIES:
                visit(_path_of_import(path, name, texts))
        done[path] = None

    for path in wanted:
        visit(path)
    return list(done)


def _file(file: str, modules: list[tuple[str, str]], file_of: Mapping[str, str]) -> dict[str, bytes]:
    used: dict[str, str] = {}  # {what the file imports: its name there}
    bodies = [_module(file, path, text, file_of, used) for path, text in modules]
    imports = [f'import * as {name} from "{source}";' for source, name in used.items()]
    lines = [*imports, "export const modules = {};"]
    starts: list[Start] = []
    for (path, text), body in zip(modules, bodies, strict=True):
        starts.append(Start(f"../{path}", len(lines) + 1, text.count("\n")))
        lines += body.split("\n")
    name = _name(file)
    lines += [f"//# sourceMappingURL={name}.map", ""]
    return {file: "\n".join(lines).encode(), f"{file}.map": source_map(name, starts)}


def _module(file: str, path: str, text: str, file_of: Mapping[str, str], used: dict[str, str]) -> str:
    exported: dict[str, str] = {}

    def imported(found: re.Match[str]) -> str:
        default, names, source = found.groups()
        bound = f"default: {default}" if default else names.strip(" ").replace(" as ", ": ")
        return f"const {{ {bound} }} = {where(source)};"

    def where(source: str) -> str:
        if source in LIBRARIES:
            return used.setdefault(source, f"library{len(used)}")
        wanted = path_of(path, source)
        if file_of[wanted] == file:
            return f'modules["{wanted}"]'
        return f'{used.setdefault(f"./{_name(file_of[wanted])}", f"file{len(used)}")}.modules["{wanted}"]'

    def declared(found: re.Match[str]) -> str:
        default, name, names = found.groups()
        if names is not None:
            exported.update({one.strip(): one.strip() for one in names.split(",")})
        else:
            exported["default" if default else name] = name
        return ""

    def loaded(found: re.Match[str]) -> str:
        wanted = _path_of_import(path, found[1], file_of)
        return f'import("./{_name(file_of[wanted])}").then((file) => file.modules["{wanted}"])'

    code = _EXPORT.sub(declared, _IMPORT.sub(imported, text))
    if (strange := _NOT_UNDERSTOOD.search(code)) is not None:
        raise ValueError(f"{path}: {strange[0]} is not understood")
    code = _ON_DEMAND.sub(loaded, code)
    code = code.replace("import.meta.url", f'new URL("../{path}", import.meta.url)')
    gives = ", ".join(f"{name}: {local}" for name, local in exported.items())
    return f'modules["{path}"] = await (async () => {{\n{code}return {{ {gives} }};\n}})();'


def path_of(importer: str, name: str) -> str:
    """The path of the module that an import names.

    Args:
        importer: the path of the importing module.
        name: the name in its import, relative or from the import map.
    """
    if not name.startswith("."):
        return IMPORTS.get(name, name)
    parts = list(PurePosixPath(importer).parent.parts)
    for part in PurePosixPath(name).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _path_of_import(importer: str, name: str, known: Mapping[str, object]) -> str:
    path = path_of(importer, name)
    if path not in known:
        raise ValueError(f"{importer} imports {name}, which is not there")
    return path


def _name(file: str) -> str:
    return file.removeprefix(JOINED)
