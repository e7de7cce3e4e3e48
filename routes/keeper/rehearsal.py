"""Whether what nodes would be started with can be loaded at all: run in a process of its own, before any is renewed.

    python -P -m routes.keeper.rehearsal

It reads the settings and imports the server, as a node does first, and ends with 1 and a line where the settings do not
fit, or with a traceback where the code does not.
"""

import sys

from routes.edge.config.config import read_config
from routes.edge.config.environment import process_environment
from routes.edge.faults import OperatorFault


def main() -> int:
    """Return the exit code: 0 where all could be loaded."""
    try:
        read_config(process_environment())
    except OperatorFault as fault:
        sys.stderr.write(f"partyline: {fault}\n")
        return 1
    import routes.__main__  # noqa: F401, PLC0415 — for its sake this process is there

    return 0


if __name__ == "__main__":
    sys.exit(main())
