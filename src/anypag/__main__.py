"""The program from its first moment on, for `python -m anypag` and the script `anypag`."""

import os
import signal
import sys


def main() -> int:
    """The exit code of the command line."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a KeyboardInterrupt in an import would show a traceback
        signal.signal(number, lambda *_: os._exit(130))  # that of `ExitCode.INTERRUPTED`, which is not imported yet
    from anypag.cli.main import main

    return main()


if __name__ == "__main__":
    sys.exit(main())
