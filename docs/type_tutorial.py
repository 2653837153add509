"""Type the tutorial: run its cells, one after the other, with the Python that runs this and whatever anypag it has.

`docs/try_package.sh` runs it where only the wheel is installed.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def cells(page: Path) -> list[str]:
    """The cells of a page that is a notebook."""
    found = re.findall(r"```\{code-cell\}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [re.sub(r"(?m)^:.*$", "", cell) for cell in found]


def main() -> None:
    """Run them in an empty folder."""
    os.environ["ANYPAG_EXAMPLES"] = str(HERE.parent / "examples")
    names: dict[str, object] = {}
    typed = cells(HERE / "tutorial.md")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for cell in typed:
            exec(cell, names)
        written = sorted(path.name for path in Path(folder).iterdir())
        os.chdir(HERE)
    sys.stdout.write(
        f"{len(typed)} cells of the tutorial ran with Python {sys.version.split()[0]}; it wrote {written}.\n"
    )


if __name__ == "__main__":
    main()
