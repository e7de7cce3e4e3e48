"""The Domain record of the console."""

from routes.console import pages
from routes.console.parts import STATIC_FILES
from routes.domain import Domain
from routes.edge.declare.mounts import Mount

CONSOLE = Domain(
    name="console",
    mounts=(Mount("console", (pages,)),),
    parts=(STATIC_FILES,),
)
