"""Compiles some modules into the wheel, if `PARTYLINE_COMPILE=1` asks for it; otherwise the wheel is pure Python.

The sources are in it all the same: they run where the shared objects do not fit.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WANTED = os.environ.get("PARTYLINE_COMPILE") == "1"


class CompilingHook(BuildHookInterface[Any]):
    """Has the modules compiled before the wheel is put together, and names it after the interpreter and platform."""

    PLUGIN_NAME = "custom"
    made: tempfile.TemporaryDirectory[str] | None = None

    def dependencies(self) -> list[str]:
        """What the build needs beside hatchling: the compiler, and all that the types of our modules stand on."""
        if not WANTED:
            return []
        project = self.metadata.core
        return [*project.dependencies, *project.optional_dependencies["compile"]]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and add what was made; an editable installation is left to `scripts/compile`."""
        if not WANTED or version == "editable":
            return
        sys.path.insert(0, self.root)
        from compiled.finding import OBJECTS  # noqa: PLC0415 — in the checkout, which is found from here on
        from scripts.compiling.building import build  # noqa: PLC0415
        from scripts.compiling.groups import GROUPS  # noqa: PLC0415

        self.made = tempfile.TemporaryDirectory(prefix="partyline-compiled-")
        build(Path(self.root), GROUPS, Path(self.made.name))
        build_data["force_include"][self.made.name] = OBJECTS
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what has gone into the wheel."""
        if self.made is not None:
            self.made.cleanup()
