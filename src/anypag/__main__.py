"""`python -m anypag`: the command line."""

import sys

from anypag.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
