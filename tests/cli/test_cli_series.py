from __future__ import annotations

from pathlib import Path

import numpy as np
from commands import anypag

import anypag as ap

TRUE = {("x(t-1)", "x"), ("x(t-1)", "y"), ("y(t-1)", "y")}


def write_days(path: Path, seed: int = 0, shift: float = 0.0) -> Path:
    """Days on which x is a cause of y one day later; `shift` moves x."""
    x, y = np.random.default_rng(seed).normal(size=(2, 300))
    x += shift
    for t in range(1, 300):
        x[t] += 0.5 * x[t - 1]
        y[t] += 0.4 * y[t - 1] + 0.7 * x[t - 1]
    lines = ["day,x,y", *(f"{2000 + t},{x[t]:.6f},{y[t]:.6f}" for t in range(300))]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_command_learns_and_writes(tmp_path: Path) -> None:
    data, out = write_days(tmp_path / "days.csv"), tmp_path / "found.json"
    ended = anypag("learn-series", data, "--max-lag", "1", "--time", "day", "--method", "icd", "--out", out)
    assert ended.code == 0 and "x(t-1) o-> y" in ended.out and "299 windows" in ended.out, ended.err
    assert {edge.pair for edge in ap.read_series(out).edges} == TRUE
    document = anypag("learn-series", data, "--time", "day", "--method", "icd", "--json").document
    assert {edge["text"] for edge in document["edges"]} >= {"x(t-1) o-> y"}
    assert anypag("learn-series", data, "--max-lag", "0").code == 2
    assert anypag("explain", out, "x(t-1)", "y").code == 0


def test_the_audit_of_a_plain_table_names_the_command(tmp_path: Path) -> None:
    assert "learn-series" in anypag("audit", write_days(tmp_path / "days.csv"), "--drop", "day").out


def test_several_data_sets_are_searched_together(tmp_path: Path) -> None:
    first, second = write_days(tmp_path / "a.csv"), write_days(tmp_path / "b.csv", seed=1, shift=1.5)
    both = ("--max-lag", "1", "--time", "day", "--method", "icd")
    ended = anypag("learn-series", f"observed={first}", f"drug={second}", *both)
    assert ended.code == 0 and "  drug --> x" in ended.out and "drug acts directly on x" in ended.out, ended.err
    assert "'observed' is the one with which others are compared" in ended.out and "598 windows" in ended.out
    one = tmp_path / "all.csv"
    rows = [f"{line},none" for line in first.read_text().splitlines()[1:]]
    rows += [f"{line},drug" for line in second.read_text().splitlines()[1:]]
    one.write_text("\n".join(["day,x,y,arm", *rows]) + "\n")
    document = anypag("learn-series", one, "--context", "arm", *both, "--json").document
    assert "drug --> x" in {edge["text"] for edge in document["edges"]}
    assert document["targets"]["directly"] == [True, False]
    assert anypag("learn-series", first, "--observed", "drug", *both).code == 2


def test_a_run_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    data, kept = write_days(tmp_path / "days.csv"), tmp_path / "run.ckpt"
    command = ("learn-series", data, "--max-lag", "1", "--time", "day", "--method", "icd", "--checkpoint", kept)
    first = anypag(*command)
    assert first.code == 0 and kept.exists(), first.err
    assert anypag(*command).code == 2
    again = anypag(*command, "--resume")
    assert again.code == 0 and "Continuing from" in again.out and "x(t-1) o-> y" in again.out, again.err
    assert anypag("learn-series", data, "--resume").code == 2


def test_experiments_may_be_compared_one_by_one(tmp_path: Path) -> None:
    first, second = write_days(tmp_path / "a.csv"), write_days(tmp_path / "b.csv", seed=1, shift=1.5)
    sets = (f"observed={first}", f"drug={second}", "--max-lag", "1", "--time", "day", "--method", "icd")
    assert "  drug --> x" in anypag("learn-series", *sets, "--contexts-test", "pairwise").out
    assert anypag("learn-series", first, "--contexts-test", "pairwise").code == 2
