"""Imports go one way, kernels stand alone, and `import anypag` stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import anypag

ROOT = Path(anypag.__file__).parent

LAYERS = (
    ("errors", "catalogue", "arrays", "markup", "files", "_kernels", "threads", "stored"),
    ("choices",),
    ("graphs", "data"),
    ("ci", "scores", "knowledge"),
    ("search",),
    ("results",),
    ("checkpoint",),
    ("run", "simulate", "metrics"),
    ("effects",),
    ("plot", "report", "explain"),
    ("saving",),
    ("series", "studio"),
    ("cli", "__main__"),
)
RANK = {part: rank for rank, layer in enumerate(LAYERS) for part in layer}
STRANGERS = {
    ("graphs", "data"),
    ("scores", "ci"),
    *permutations(("ci", "knowledge"), 2),
    *permutations(("errors", "_kernels", "threads"), 2),
}
"""Pairs of one layer where the first must not import the second."""

SHOWS_ITSELF = {
    *(("results/result.py", part) for part in ("effects", "explain", "plot", "saving")),
    ("graphs/base.py", "plot"),
    ("effects/answer.py", "plot"),
}
"""`result.explain(...)`, `result.plot()` and pictures in notebooks: methods that load what they call when called."""

MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imported(tree: ast.AST) -> Iterator[str]:
    """The full names of the modules a file imports, anywhere in it but under `if TYPE_CHECKING:`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and "TYPE_CHECKING" in node.test.id:
            yield from (name for other in node.orelse for name in imported(other))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            yield from _from(node)
        else:
            yield from imported(node)


def _from(node: ast.ImportFrom) -> Iterator[str]:
    """The module named, and for `from anypag import metrics` or `from anypag.ci import gaussian` the one behind it."""
    for alias in node.names:
        yield f"{node.module}.{alias.name}" if node.module in {"anypag", "anypag.ci"} else str(node.module)


def imports_of(path: Path) -> list[str]:
    return list(imported(ast.parse(path.read_text(encoding="utf-8"))))


def parts_imported(path: Path) -> list[str]:
    names = [name.split(".") for name in imports_of(path)]
    return [name[1] for name in names if name[0] == "anypag" and name[1:] not in ([], ["__version__"])]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_every_part_has_its_layer() -> None:
    assert {part_of(path) for path in MODULES} <= RANK.keys()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_one_way(path: Path) -> None:
    own = part_of(path)
    for other in parts_imported(path):
        if (name_of(path), other) in SHOWS_ITSELF:
            continue
        assert other in RANK, f"{name_of(path)} imports anypag.{other}, which is no part: import from where it lives"
        assert RANK[other] <= RANK[own], f"{name_of(path)} imports anypag.{other}, which comes after it"
        assert (own, other) not in STRANGERS, f"{name_of(path)} imports anypag.{other}, which it must not know"


KERNELS = sorted(set((ROOT / "_kernels").glob("[a-z]*.py")) - {ROOT / "_kernels" / "patience.py"})


@pytest.mark.parametrize("path", KERNELS, ids=name_of)
def test_a_kernel_imports_arrays_and_the_compiler_only(path: Path) -> None:
    allowed = {"numpy", "numba", "math"}
    assert {name.split(".")[0] for name in imports_of(path) if name != "anypag._kernels.patience"} <= allowed


@pytest.mark.parametrize("path", sorted((ROOT / "search").rglob("*.py")), ids=name_of)
def test_a_search_sees_no_concrete_test(path: Path) -> None:
    found = [name for name in imports_of(path) if name.startswith("anypag.ci")]
    abstract = ("base", "passes", "wrappers")
    assert all(name.startswith(tuple(f"anypag.ci.{part}" for part in abstract)) for name in found)


def test_the_package_itself_imports_nothing_of_its_own() -> None:
    assert not [name for name in imports_of(ROOT / "__init__.py") if name.startswith("anypag")]


def loaded_after(statement: str, *modules: str) -> set[str]:
    """Which of the modules a fresh interpreter has loaded after the statement."""
    code = f"import sys\n{statement}\nprint(*(name for name in {modules!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


HEAVY = (
    "numba",
    "joblib",
    "scipy",
    "pydantic",
    "matplotlib",
    "polars",
    "pandas",
    "networkx",
    "igraph",
    "rich",
    "click",
)


@pytest.mark.parametrize("statement", ["import anypag", "import anypag; dir(anypag); anypag.AnypagError"])
def test_importing_the_package_is_light(statement: str) -> None:
    assert loaded_after(statement, *HEAVY) == set()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small table and a result of it."""
    folder = tmp_path_factory.mktemp("commands")
    rows = np.random.default_rng(0).normal(size=(200, 4)) @ np.triu(np.ones((4, 4)))
    levels = np.array(["low", "middle", "high"])[np.digitize(rows, [-1, 1])]
    for name, values in {"data": rows, "levels": levels, "mixed": np.where([1, 0, 1, 0], rows, levels)}.items():
        np.savetxt(folder / f"{name}.csv", values, "%s", delimiter=",", header="a,b,c,d", comments="")
    anypag.learn(folder / "data.csv", method="icd", selection_bias=False).save(folder / "result.json")
    return folder


OF_SCIENCE = ("numba", "scipy", "joblib", "pydantic", "matplotlib", "pandas", "networkx", "igraph")
OF_LEVELS = (
    *(name for name in OF_SCIENCE if name != "scipy"),
    "scipy.linalg",
    "scipy.stats",
)  # p-values: scipy.special
MAY_NOT_LOAD = {
    "explain result.json a b": (*OF_SCIENCE, "polars"),
    "show result.json": (*OF_SCIENCE, "polars"),
    **{f"audit {name}.csv": OF_SCIENCE for name in ("data", "levels", "mixed")},
    "learn data.csv --method icd --out again.json": OF_SCIENCE,
    **{f"learn {name}.csv --method icd --out again.json": OF_LEVELS for name in ("levels", "mixed")},
    "effect result.json a b --data data.csv": (*(name for name in OF_SCIENCE if name != "scipy"), "scipy.stats"),
    "--help": (*OF_SCIENCE, "polars", "numpy", "rich"),
}


@pytest.mark.parametrize("command", MAY_NOT_LOAD)
def test_commands_start_without_what_they_do_not_need(files: Path, command: str) -> None:
    words = [str(files / word) if "." in word else word for word in command.split()]
    run = (
        f"import io, sys; from anypag.cli.main import main; kept, sys.stdout = sys.stdout, io.StringIO(); main({words})"
    )
    assert loaded_after(f"{run}; sys.stdout = kept", *MAY_NOT_LOAD[command], "anypag.cli.main") == {"anypag.cli.main"}


def test_a_pag_needs_no_compiler() -> None:
    assert loaded_after("import anypag; anypag.PAG.from_string('A o-> B').ancestors('B')", *HEAVY) == set()


def test_what_is_imported_is_seen() -> None:
    """The checks above can fail: an import inside a function counts, one for type checkers does not."""
    source = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from anypag.results.result import Result
def f():
    from anypag.ci.gaussian import FisherZ
    import numba.core
    from anypag import simulate
"""
    assert list(imported(ast.parse(source))) == ["typing", "anypag.ci.gaussian", "numba.core", "anypag.simulate"]
    assert loaded_after("import numba", *HEAVY) >= {"numba"}


LIBRARY = [path for path in MODULES if part_of(path) not in {"cli", "__main__"}]


STREAMS = {"stderr", "stdout", "__stderr__", "__stdout__"}
ASKED_FOR = {"run/watcher.py": ["showing"]}
"""The functions that may write, because the user asked for it: `progress=True` shows a bar."""


def writes(node: ast.AST) -> bool:
    """Does a part of a file print, make a console (which writes to a stream), or name a stream of the process?"""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).split(".")[-1] in {"print", "Console"}
    if isinstance(node, ast.ImportFrom):
        return node.module == "sys" and bool(STREAMS & {alias.name for alias in node.names})
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) == "sys" and node.attr in STREAMS


def that_write(tree: ast.AST, function: str = "") -> Iterator[str]:
    """The functions of a file that write by themselves; "" for the file itself."""
    for node in ast.iter_child_nodes(tree):
        name = node.name if isinstance(node, ast.FunctionDef) else function
        if writes(node):
            yield name
        yield from that_write(node, name)


@pytest.mark.parametrize("path", LIBRARY, ids=name_of)
def test_the_library_writes_to_no_stream_by_itself(path: Path) -> None:
    assert [*that_write(ast.parse(path.read_text(encoding="utf-8")))] == ASKED_FOR.get(name_of(path), [])


@pytest.mark.parametrize(
    "line",
    ["import sys; sys.stderr.write('a')", "print(1)", "from sys import stdout", "rich.console.Console(stderr=True)"],
)
def test_what_is_written_is_seen(line: str) -> None:
    assert [*that_write(ast.parse(f"def f():\n    {line}"))] == ["f"] and [*that_write(ast.parse(line))] == [""]


WITHOUT_CLOCK = [path for path in MODULES if part_of(path) in {"graphs", "results"}]


@pytest.mark.parametrize("path", WITHOUT_CLOCK, ids=name_of)
def test_graphs_and_results_know_no_clock(path: Path) -> None:
    """What they say of a graph is bounded by counts: the same on every machine."""
    assert not {"time", "timeit", "datetime"} & set(imports_of(path))


# --- private members of others ---------------------------------------------------------------------------------------

DOCUMENTED = {"_replace", "_fields", "_asdict", "_make", "_exit"}  # of tuples, and `os._exit`


def members(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The members that a file reads or sets, or imports from other packages, each with what it is a member of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield ast.unparse(node.value), node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"getattr", "setattr", "hasattr"}:
            yield ast.unparse(node.args[0]), str(getattr(node.args[1], "value", ""))
        elif isinstance(node, ast.ImportFrom) and not str(node.module).startswith("anypag"):
            yield from ((str(node.module), part) for alias in node.names for part in alias.name.split("."))


def defined(tree: ast.AST) -> Iterator[str]:
    """The names that a file gives to functions, classes, variables and the members of its own objects."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield node.attr


def private_of_others(tree: ast.AST) -> list[str]:
    own = {*defined(tree), *DOCUMENTED}
    private = [(of, name) for of, name in members(tree) if name.startswith("_") and not name.endswith("_")]
    return [f"{of}.{name}" for of, name in private if of not in {"self", "super()"} and name not in own]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_file_uses_private_members_of_others(path: Path) -> None:
    """Not of numba, nor of any other package: they may be gone in its next version."""
    assert private_of_others(ast.parse(path.read_text(encoding="utf-8"))) == []


def test_private_members_of_others_are_seen() -> None:
    lines = (
        "numba().njit(f)._compiler.locals = {}",
        "dispatcher._can_compile = True",
        "getattr(made, '_cache')",
        "setattr(numba.core, '_event', None)",
        "from numba.core.dispatcher import _FunctionCompiler",
    )
    assert all(private_of_others(ast.parse(line)) for line in lines)
    assert not private_of_others(ast.parse("self._a = 1; other._a; row._replace(b=2); numba.core.event.register"))


# --- the two ways of searching ---------------------------------------------------------------------------------------


def way_of(module: str) -> str:
    """ "by_tests", "by_scores", or "shared" for what both ways of searching use."""
    found = module.removeprefix("anypag.search.").split(".")[0]
    return found if found in {"by_tests", "by_scores"} else "shared"


MAY_IMPORT = {"shared": {"shared"}, "by_tests": {"shared", "by_tests"}}


@pytest.mark.parametrize("path", sorted((ROOT / "search").rglob("*.py")), ids=name_of)
def test_searches_by_scores_may_use_those_by_tests_and_never_the_other_way(path: Path) -> None:
    own = way_of(f"anypag.{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}")
    others = {way_of(name) for name in imports_of(path) if name.startswith("anypag.search.")}
    assert others <= MAY_IMPORT.get(own, others)
    assert own == "by_scores" or not [name for name in imports_of(path) if name.startswith("anypag.scores")]


A_RUN = """
import warnings
import numpy as np
import anypag as ap
warnings.simplefilter("ignore")
ap.learn(np.random.default_rng(0).normal(size=(200, 5)), names=list("abcde"), method="icd")
"""


def test_a_run_of_icd_loads_nothing_of_scores() -> None:
    code = f"import sys\n{A_RUN}\nprint(*(name for name in sys.modules if name.split('.')[0] == 'anypag'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert not [name for name in loaded if "by_scores" in name or name.startswith("anypag.scores")]
    assert len(loaded) <= 120
