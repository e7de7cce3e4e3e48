"""`python -m routes`: the command line, without a program of that name.

A keeper imports the server by this name before it renews its nodes, also one of an earlier release into this one.
"""

import sys

import routes.process  # noqa: F401 — the server
from routes.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
