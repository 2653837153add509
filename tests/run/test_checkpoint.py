from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anypag as ap
from anypag.catalogue import TEST_METHODS
from anypag.checkpoint.content import content_hash
from anypag.checkpoint.store import TABLES, Store, _array_row, _fact_row
from anypag.errors import AnypagError, CheckpointError, DataError
from anypag.graphs.rules import RULES
from anypag.results.files import save_result
from anypag.results.result import Result
from anypag.run.engine import Search
from anypag.search.by_scores import boss
from anypag.search.by_tests import fci_plus

SYSTEM = ap.simulate.random_system(9, 2.5, seed=11)
SAMPLE = SYSTEM.linear_gaussian(300, seed=11)


def as_function(paid: list[int] | None = None) -> ap.CITest:
    """A test that costs: one question at a time."""
    test = Search(SAMPLE).problem.bound_test

    def pvalue(x: int, y: int, z: tuple[int, ...]) -> float:
        if paid is not None:
            paid.append(1)
        return float(test.pvalues(ap.Queries.one(x, y, z))[0])

    return ap.from_callable(pvalue, test.names)


SOURCES: dict[str, Callable[[], Any]] = {"data": lambda: SAMPLE, "function": as_function, "oracle": SYSTEM.oracle}


def told(result: Result) -> Any:
    """All that a result tells, but for how long it took."""
    document = save_result(result)
    for item in document["meta"]["anypag"]["history"]:
        del item["seconds"]
    return document


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("method", TEST_METHODS)
def test_stopped_after_every_iteration_and_resumed(tmp_path: Path, method: Any, source: str) -> None:
    whole = ap.learn(SOURCES[source](), method=method)
    path, rounds = tmp_path / "run.anypag", 0
    result = None
    while result is None or result.stopped == "stop":
        result = ap.learn(SOURCES[source](), method=method, checkpoint=path, resume=True, stop=lambda state, info: True)
        rounds += 1
    assert rounds == len(whole.history)
    assert told(result) == told(whole)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 400))
def test_broken_off_anywhere_no_answer_written_is_paid_again(tmp_path: Path, after: int) -> None:
    path = tmp_path / "run.anypag"
    path.unlink(missing_ok=True)
    paid: list[int] = []
    whole = ap.learn(as_function(paid), method="icd")
    n_paid = len(paid)
    paid.clear()
    stopped = ap.learn(as_function(paid), method="icd", checkpoint=path, max_tests=after)
    resumed = ap.learn(as_function(paid), method="icd", checkpoint=path, resume=True)
    assert stopped.stopped == "tests" or stopped.complete
    assert len(paid) == n_paid
    assert told(resumed) == told(whole)


def test_answers_are_written_inside_an_iteration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anypag.checkpoint.checkpoint.SECONDS_BETWEEN_WRITES", 0.0)
    path, seen = tmp_path / "run.anypag", []

    def look(progress: Any) -> None:
        if progress.n_evaluated == 10:
            copy = tmp_path / "copy.anypag"
            copy.write_bytes(path.read_bytes())
            with Store(copy) as store:
                seen.append((store.fact("steps"), len(store.names("answers/"))))
            raise KeyboardInterrupt

    ap.learn(as_function(), method="icd", checkpoint=path, progress=look)
    assert seen == [(0, 20)]  # ten writes of one array of questions and one of p-values


def test_an_existing_file_needs_resume(tmp_path: Path) -> None:
    path = tmp_path / "run.anypag"
    path.write_text("mine")
    with pytest.raises(CheckpointError, match=r"already exists\. Resume from it, remove it, or choose another file"):
        ap.learn(SAMPLE, method="icd", checkpoint=path)
    with pytest.raises(CheckpointError, match="is no checkpoint of anypag"):
        ap.learn(SAMPLE, method="icd", checkpoint=path, resume=True)
    assert path.read_text() == "mine"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="cannot be written"):
        ap.learn(SAMPLE, method="icd", checkpoint=tmp_path / "none" / "run.anypag")


def test_other_data_other_test_other_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.anypag"
    ap.learn(SAMPLE, method="icd", checkpoint=path)
    rows = np.array(SAMPLE.rows)
    rows[0, 0] += 1e-12
    changed = ap.simulate.Sample(rows, SAMPLE.names)
    with pytest.raises(CheckpointError, match=r"belongs to another run: the data are not the same\."):
        ap.learn(changed, method="icd", checkpoint=path, resume=True)
    with pytest.raises(CheckpointError, match="the number of rows: 300 then, 299 now"):
        ap.learn(ap.simulate.Sample(rows[1:], SAMPLE.names), method="icd", checkpoint=path, resume=True)
    with pytest.raises(CheckpointError, match="the test: FisherZ then, Callable now"):
        ap.learn(as_function(), method="icd", checkpoint=path, resume=True)
    with pytest.raises(CheckpointError, match=r"alpha: 0\.01 then, 0\.02 now; max_r: None then, 2 now"):
        ap.learn(SAMPLE, alpha=0.02, max_r=2, checkpoint=path, resume=True)
    monkeypatch.setattr("anypag.__version__", "99.0")
    with pytest.raises(CheckpointError, match=r"the version of anypag: .* then, 99\.0 now"):
        ap.learn(SAMPLE, method="icd", checkpoint=path, resume=True)


def test_a_file_that_changes_while_it_is_read_gets_no_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    rows = np.random.default_rng(0).normal(size=(50, 3))
    path.write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    search = Search(path)
    path.write_text(path.read_text() + "1,2,3\n")
    with pytest.raises(DataError, match="changed while it was read"):
        search.checkpoint(tmp_path / "run.anypag")
    assert not (tmp_path / "run.anypag").exists()


def test_a_changed_function_is_another_test(tmp_path: Path) -> None:
    names = SAMPLE.keys()

    def scaled(factor: float) -> ap.CITest:
        return ap.from_callable(lambda x, y, z: factor / (1 + x + y), list(names))

    path = tmp_path / "run.anypag"
    ap.learn(scaled(0.5), method="icd", checkpoint=path, max_tests=5)
    with pytest.raises(CheckpointError, match="the data are not the same"):
        ap.learn(scaled(0.6), method="icd", checkpoint=path, resume=True)
    ap.learn(scaled(0.5), method="icd", checkpoint=path, resume=True, max_tests=5)


def test_two_runs_do_not_share_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "run.anypag"
    with Search(SAMPLE).checkpoint(path), pytest.raises(CheckpointError, match="in use by another run"):
        ap.learn(SAMPLE, method="icd", checkpoint=path, resume=True)


def test_a_full_disk_is_an_error_with_the_result_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Store, facts: Any, arrays: Any, **_: Any) -> None:
        if "history/1" in facts:
            raise CheckpointError("The checkpoint cannot be written: database or disk is full.")
        original(self, facts, arrays)

    original = Store.write
    monkeypatch.setattr(Store, "write", full)
    with pytest.raises(CheckpointError, match="disk is full") as caught:
        ap.learn(SAMPLE, method="icd", checkpoint=tmp_path / "run.anypag")
    assert caught.value.result is not None and caught.value.result.r == 1


# --- files that no run has written ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("checkpoint") / "run.anypag"
    ap.learn(as_function(), method="icd", checkpoint=path, stop=lambda state, info: info.r == 1)
    return path


def resume(path: Path, content: bytes) -> Result:
    path.write_bytes(content)
    return ap.learn(as_function(), method="icd", checkpoint=path, resume=True)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0, 0.999))
def test_a_truncated_file_is_refused(tmp_path: Path, checkpoint: Path, share: float) -> None:
    with pytest.raises(CheckpointError):
        resume(tmp_path / "run.anypag", checkpoint.read_bytes()[: int(share * checkpoint.stat().st_size)])


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_file_is_refused_or_harmless(tmp_path: Path, checkpoint: Path, data: st.DataObject) -> None:
    content = bytearray(checkpoint.read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        result = resume(tmp_path / "run.anypag", bytes(content))
    except CheckpointError:
        return
    assert told(result) == told(ap.learn(as_function(), method="icd"))


class _Executed:
    def __reduce__(self) -> Any:
        return exec, ("raise SystemExit('executed')",)


def test_a_pickle_is_refused_and_not_executed(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="is no checkpoint of anypag"):
        resume(tmp_path / "run.anypag", pickle.dumps(_Executed()))


def altered(path: Path, content: bytes, *statements: str) -> bytes:
    path.write_bytes(content)
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return path.read_bytes()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("PRAGMA application_id = 7", "no checkpoint of anypag"),
        (
            "PRAGMA user_version = 1",
            "has format 1, written by anypag .*; this version of anypag reads format 5. Continue it with the version",
        ),
        ("CREATE VIEW more AS SELECT 1", "its tables are not those of a checkpoint"),
        (
            "CREATE TRIGGER surprise AFTER UPDATE ON facts BEGIN DELETE FROM arrays; END",
            "its tables are not those of a checkpoint",
        ),
        ("DELETE FROM facts WHERE name = 'run'", "no run is recorded in it"),
        ("DELETE FROM arrays WHERE name = 'state/marks'", '"state", "marks": the array is not there'),
        ("UPDATE arrays SET dtype = '|O8' WHERE name = 'state/marks'", "'state/marks' is not what was written"),
        (
            "UPDATE arrays SET content = zeroblob(5) WHERE name = 'state/evidence/pairs/p'",
            "'state/evidence/pairs/p' is not what was written",
        ),
        ("UPDATE facts SET value = '9' WHERE name = 'steps'", "the fact 'steps' is not what was written"),
    ],
)
def test_an_altered_file_is_refused(tmp_path: Path, checkpoint: Path, statement: str, message: str) -> None:
    content = altered(tmp_path / "altered", checkpoint.read_bytes(), statement)
    with pytest.raises(CheckpointError, match=message):
        resume(tmp_path / "run.anypag", content)


HOSTILE_ARRAYS: dict[str, tuple[Any, str]] = {
    "problem/order": (np.zeros(9, np.int32), "the order of the nodes is no permutation"),
    "state/marks": (np.full((9, 9), 2, np.uint8), "and no node may have an edge with itself"),
    "state/sepsets/rows": (np.full(3, 10**6, np.int32), '"sepsets": its parts do not go together'),
    "state/sepsets/members": (np.full((3, 2), 9, np.int32), "holds numbers from 9 on"),
    "state/evidence/pairs/p": (np.zeros((2, 2)), "the array is of shape"),
    "problem/strength": (np.zeros((9, 9), np.float64), "is of shape"),
    "state/evidence/log": (np.array([[max(RULES) + 1, 0, 1, 2, -1, -1]], np.int32), "holds a mark that no rule sets"),
    "state/evidence/conflicts": (np.array([[1, 0, 9, 2, -1, -1]], np.int32), "holds a mark that no rule sets"),
    "state/checked_paths": (np.zeros(3, np.int32), "the last path is cut off"),
    "state/asked": (np.ones((1024, 2), np.uint64), "too full"),
    "history/0": (np.zeros((3, 3), np.uint8), "the array is of shape"),
}


@pytest.mark.parametrize("name", HOSTILE_ARRAYS)
def test_an_array_that_no_run_has_written_is_refused(tmp_path: Path, checkpoint: Path, name: str) -> None:
    array, message = HOSTILE_ARRAYS[name]
    path = tmp_path / "run.anypag"
    path.write_bytes(checkpoint.read_bytes())
    with Store(path) as store:
        assert store.array(name) is not None
        store.write({}, {name: array})
    with pytest.raises(CheckpointError, match=message):
        ap.learn(as_function(), method="icd", checkpoint=path, resume=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", 99),
        ("steps", -1),
        ("steps", "two"),
        ("state/phase", "surprise"),
        ("state/phase", None),
        ("state/r", 1e9),
        ("state/r", -2),
        ("state/done", 1),
        ("history/0", {}),
        ("history/0", []),
        ("run", [1]),
    ],
)
def test_a_fact_that_no_run_has_written_is_refused(tmp_path: Path, checkpoint: Path, name: str, value: Any) -> None:
    path = tmp_path / "run.anypag"
    path.write_bytes(checkpoint.read_bytes())
    with Store(path) as store:
        store.write({name: value}, {})
    with pytest.raises(CheckpointError):
        ap.learn(as_function(), method="icd", checkpoint=path, resume=True)


def test_answers_that_are_none_are_refused(tmp_path: Path, checkpoint: Path) -> None:
    path = tmp_path / "run.anypag"
    for queries, p in (([[0, 99]], [0.5]), ([[1, 0]], [0.5]), ([[0, 1]], [7.0]), ([[0, 1, 3, 2]], [0.5])):
        path.write_bytes(checkpoint.read_bytes())
        with Store(path) as store:
            name = "answers/00000099/0"
            store.write({}, {f"{name}/queries": np.array(queries, np.int32), f"{name}/p": np.array(p)})
        with pytest.raises(CheckpointError, match="the array 'answers/00000099/0' holds no answers of a test"):
            ap.learn(as_function(), method="icd", checkpoint=path, resume=True)


@pytest.mark.parametrize("name", ["answers/x/0/p", "answers/1/0/p", "answers/00000001/x/queries", "answers/00000001/p"])
def test_answers_under_names_that_no_run_gives_are_refused(tmp_path: Path, checkpoint: Path, name: str) -> None:
    path = tmp_path / "run.anypag"
    path.write_bytes(checkpoint.read_bytes())
    with Store(path) as store:
        store.write({}, {name: np.array([0.5])})
    with pytest.raises(CheckpointError, match=f"the array '{name}' does not belong in a checkpoint"):
        ap.learn(as_function(), method="icd", checkpoint=path, resume=True)


# --- the parts ------------------------------------------------------------------------------------------------------


def test_a_write_is_whole_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with Store.create(path, {"a": 1}) as store:
        with pytest.raises(Exception, match="not JSON serializable"):
            store.write({"a": 2, "b": object()}, {"x": np.zeros(2)})
        assert store.fact("a") == 1 and store.array("x") is None
        store.write({"a": 2}, {"x": np.zeros(2)})
        store.write({}, {"x": None})
        assert store.fact("a") == 2 and store.array("x") is None
    assert [item.name for item in tmp_path.iterdir()] == ["store"]


@pytest.mark.parametrize("dtype", ["u1", "?", "i2", "i4", "i8", "u8", "f4", "f8", ">i4"])
def test_arrays_come_back_as_they_were(tmp_path: Path, dtype: str) -> None:
    array = np.arange(12).reshape(3, 4).astype(dtype)
    with Store.create(tmp_path / "store", {}) as store:
        store.write({}, {"x": array, "none": array[:0]})
        back, none = store.array("x"), store.array("none")
    assert back is not None and none is not None
    assert np.array_equal(back, array) and back.dtype == array.dtype.newbyteorder("=") and none.shape == (0, 4)


def test_the_tables_are_the_documented_ones() -> None:
    text = (Path(__file__).parents[2] / "docs" / "checkpoint.md").read_text()
    for table in TABLES:
        assert table.split("(")[0].split()[2] in text
    assert _fact_row(("a", 1))[0] == "a" and _array_row(("a", np.zeros(1)))[1] == "<f8"


def test_content_hash_tells_apart() -> None:
    def first(x: int) -> int:
        return x + 1

    def other(x: int) -> int:
        return x - 1

    values = [
        None, 0, 0.0, "0", [0], (0,), {"a": 0}, {"a": 1}, np.zeros(1), np.zeros(2), np.zeros(1, np.int32), first, other,
        ap.DAG.from_string("A --> B"), ap.DAG.from_string("B --> A"), SYSTEM.oracle(), as_function(), AnypagError,
    ]  # fmt: skip
    hashes = [content_hash(value) for value in values]
    assert len(set(hashes)) == len(values)
    assert hashes == [content_hash(value) for value in values]


def test_content_hash_sees_what_a_function_closes_over() -> None:
    def closing_over(data: Any) -> Callable[[], Any]:
        return lambda: data

    assert content_hash(closing_over(np.zeros(2))) == content_hash(closing_over(np.zeros(2)))
    assert content_hash(closing_over(np.zeros(2))) != content_hash(closing_over(np.ones(2)))
    assert content_hash(closing_over([1])) == content_hash(closing_over([1, 2]))  # a memory, not data


def after_steps(k: int) -> Callable[..., bool]:
    """Stops a run after k steps."""
    steps = iter(range(1, 1000))
    return lambda state, info: next(steps) >= k


@pytest.mark.parametrize("method", ["fci+", "gfci", "boss"])
def test_a_run_goes_on_in_the_middle_of_a_look_at_links_and_of_an_order(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is one step on a small table is cut into many: wherever the run ends, it goes on from there."""
    sample = ap.simulate.random_system(8, 2.5, seed=11).linear_gaussian(300, seed=11)
    whole = ap.learn(ap.FisherZ(sample), method=method)
    monkeypatch.setattr(boss, "SWEEPS_TIMES_PAIRS", 1)
    monkeypatch.setattr(fci_plus, "TESTS_A_STEP", 10)
    small = ap.learn(ap.FisherZ(sample), method=method)
    assert (small.pag, small.sepsets, small.n_tests) == (whole.pag, whole.sepsets, whole.n_tests)
    assert len(small.history) > len(whole.history)
    for k in range(1, len(small.history)):
        path = tmp_path / f"{k}.anypag"
        ap.learn(ap.FisherZ(sample), method=method, checkpoint=path, stop=after_steps(k))
        resumed = ap.learn(ap.FisherZ(sample), method=method, checkpoint=path, resume=True)
        assert [item.info for item in resumed.history] == [item.info for item in small.history]
        assert (resumed.pag, resumed.sepsets) == (small.pag, small.sepsets)
