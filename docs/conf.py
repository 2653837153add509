"""The site: Sphinx with MyST notebooks and the furo theme. `make docs` builds it; see docs/decisions.md."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import anypag

HERE = Path(__file__).parent

project = "anypag"
author = "The anypag authors"
copyright = author
version = release = anypag.__version__
extensions = ["myst_nb"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"anypag {release}"
html_copy_source = False
smartquotes = False  # what is typed stays as it is typed: --option, 'a | b'
html_show_sphinx = False
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / "executed")
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_execution_in_temp = True
nb_execution_show_tb = True
nb_execution_excludepatterns: list[str] = []
nb_merge_streams = True
suppress_warnings = ["mystnb.unknown_mime_type"]

# Notebooks find the examples of the checkout, and say nothing of what a reader cannot change.
os.environ["ANYPAG_EXAMPLES"] = str(HERE.parent / "examples")
os.environ.setdefault("PYTHONWARNINGS", "ignore::UserWarning")
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def setup(app: object) -> None:
    """The references are written from docstrings and commands before anything is read."""
    runpy.run_path(str(HERE / "generate_api.py"), run_name="__main__")
    runpy.run_path(str(HERE / "generate_cli.py"), run_name="__main__")
    runpy.run_path(str(HERE / "run_examples.py"), run_name="__main__")
