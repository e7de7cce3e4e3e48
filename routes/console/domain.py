"""The Domain record of the console."""

from routes.console import pages
from routes.console.assets import ASSETS
from routes.domain import Domain
from routes.edge.declare.endpoint import Mount

CONSOLE = Domain(name="console", mounts=(Mount("console", (pages,)),), parts=(ASSETS,))
