"""`python -m routes.cli`: the command line, without a program of that name."""

import sys

from routes.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
