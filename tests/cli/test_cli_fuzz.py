"""Command lines and files that nobody would write: an exit code and a sentence, never a traceback."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from commands import Ended, anypag, write_chain

from anypag.cli.commands import INTERNAL, ExitCode

COMMANDS = {
    "learn": ["DATA"],
    "audit": ["DATA"],
    "show": ["GRAPH"],
    "convert": ["GRAPH", "OUT"],
    "compare": ["GRAPH", "GRAPH"],
    "explain": ["GRAPH", "NAME", "NAME"],
    "simulate": ["OUT"],
}
OPTIONS_OF = {
    "learn": "--alpha --test --method --max-r --time-budget --max-tests --missing --columns --drop --kinds --out --out "
    "--report --checkpoint --resume --quiet --json --no-selection-bias",
    "audit": "--missing --columns --drop --kinds --max-r --json",
    "convert": "--from --to --json",
    "simulate": "--truth --dag --variables --neighbours --selection --rows --kind --levels --seed --json",
}
OPTIONS = {
    "--alpha": ["0.05", "0.2", "0.5", "0", "1", "nan", "-1", "1e-300", "inf", ""],
    "--test": ["auto", "fisherz", "gsq", "chisq", "mixed", "kci"],
    "--method": ["icd", "icd-paper", "fci", "anytime-fci", "rfci", "pc"],
    "--max-r": ["0", "1", "99", "-3", "x", "9" * 30],
    "--time-budget": ["1s", "0", "-1s", "1h30m", "∞", "1e9", "5 m", ""],
    "--max-tests": ["1", "7", "0", "1000000", "9" * 30],
    "--missing": ["error", "drop", "pairwise", "impute"],
    "--columns": ["a,b,c", "a", "", ",,", '"a', "b,b", "d,c,b,a"],
    "--drop": ["a", "z", "", "a,b,c,d"],
    "--kinds": ["a=discrete", "a=continuous,b=discrete", "a", "=", "z=discrete", "a=discrete=x"],
    "--out": ["OUT"],
    "--report": ["OUT"],
    "--checkpoint": ["OUT", "run.anypag", "DATA", "GRAPH"],
    "--resume": [],
    "--quiet": [],
    "--json": [],
    "--no-selection-bias": [],
    "--from": ["json", "pcalg", "", "tetrad"],
    "--to": ["json", "pcalg", "dagitty", "x"],
    "--truth": ["OUT"],
    "--dag": ["OUT"],
    "--variables": ["2", "5", "1", "-1"],
    "--neighbours": ["1", "0", "nan", "99"],
    "--selection": ["1", "0", "3"],
    "--rows": ["10", "50", "1", "0"],
    "--kind": ["gaussian", "discrete", "poisson"],
    "--levels": ["2", "3", "1"],
    "--seed": ["1", "-1", "9" * 25],
    "--help": [],
    "--": [],
    "-x": [],
}
NAMES = ["a", "b", "c", "d", "a", "d", "z", "", "-", "a\x00b", "\ud800", "→"]
OUTS = [
    "out.csv",
    "out.json",
    "out.txt",
    "out.csv",
    "out.dot",
    "out.svg",
    "none/out.json",
    ".",
    "out",
    "out.tetrad",
    "a.parquet",
]


class Fuzzer:
    """Draws command lines over a folder of files, good and bad."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.folder = folder
        self.good = {"DATA": self._data().read_bytes(), "GRAPH": self._graph().read_bytes()}

    def _data(self) -> Path:
        return write_chain(self.folder / "data.csv", rows=60)

    def _graph(self) -> Path:
        assert anypag("learn", "--method", "icd", self._data(), "--out", self.folder / "graph.json").code == 0
        return self.folder / "graph.json"

    def file(self, kind: str) -> str:
        """The name of a file: good, damaged, of the wrong kind or not there."""
        endings = [".csv", ".tsv", ".parquet", ".arrow"] if kind == "DATA" else [".json", ".txt", ".dot", ".csv"]
        good = self.good[self.random.choice([kind, kind, kind, "DATA", "GRAPH"])]
        path = self.folder / f"in{self.random.choice(endings if self.random.random() < 0.5 else endings[:1])}"
        path.unlink(missing_ok=True)
        if self.random.random() < 0.95:
            path.write_bytes(self.damaged(good) if self.random.random() < 0.5 else good)
        return path.name

    def damaged(self, content: bytes) -> bytes:
        changed = bytearray(content)
        for _ in range(self.random.randrange(1, 6)):
            at = self.random.randrange(len(changed) + 1)
            piece = self.random.choice(
                [b"\xff\x00", b'"', b"{", b"1e999", b"null", b",", b"\n", b"-1", b"[[", b"o->", b""]
            )
            changed[at : at + self.random.randrange(4)] = piece
        return bytes(changed[: self.random.randrange(len(changed) + 1)] if self.random.random() < 0.2 else changed)

    def argument(self, kind: str) -> str:
        if kind in self.good:
            return self.file(kind)
        if kind == "NAME":
            return self.random.choice(NAMES)
        return self.random.choice(OUTS) if kind == "OUT" else kind

    def command_line(self) -> list[str]:
        command = self.random.choice(list(COMMANDS))
        words = [self.argument(kind) for kind in COMMANDS[command]]
        for _ in range(self.random.choice([0, 1, 1, 2, 2, 3, 5])):
            is_foreign = self.random.random() < 0.05
            option = self.random.choice(list(OPTIONS) if is_foreign else OPTIONS_OF.get(command, "--json").split())
            values = OPTIONS[option]
            words += [option, self.argument(self.random.choice(values))] if values else [option]
        if self.random.random() < 0.1:
            self.random.shuffle(words)
        if self.random.random() < 0.05:
            words.pop()
        return [command, *words]


def is_sound(words: list[str], ended: Ended) -> bool:
    """Did it end with a code of ours and a sentence, and keep standard output for JSON?"""
    if ended.code not in set(ExitCode) or "Traceback" in ended.out + ended.err or INTERNAL in ended.err:
        return False
    if ended.code in {ExitCode.ERROR, ExitCode.USAGE} and not ended.err.strip() and words[0] != "audit":
        return False
    if "--json" in words and ended.code not in {ExitCode.USAGE} and "--help" not in words and ended.out:
        json.loads(ended.out)
    return True


def check(folder: Path, monkeypatch: pytest.MonkeyPatch, seed: int, count: int) -> None:
    monkeypatch.chdir(folder)
    fuzzer = Fuzzer(folder, seed)
    for _ in range(count):
        words = fuzzer.command_line()
        for leftover in ("run.anypag",) if fuzzer.random.random() < 0.3 else ():
            (folder / leftover).unlink(missing_ok=True)
        ended = anypag(*words)
        assert is_sound(words, ended), (words, ended)


def test_some_command_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(tmp_path, monkeypatch, seed=0, count=150)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_a_few_thousand_command_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    check(tmp_path, monkeypatch, seed=seed, count=1000)


def test_no_words_at_all() -> None:
    assert anypag().code in {0, 2}
    assert anypag("--version").out.startswith("anypag ")
    assert anypag("nonsense").code == 2
