"""Fuzzed tables of every format: each is read, or refused by a sentence."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars

from anypag.ci.gaussian import FisherZ
from anypag.data import as_table
from anypag.data.audit import audit
from anypag.errors import AnypagError
from attack.children import Counts, answered, damaged, mutated

LONGEST_MESSAGE = 2000
CELLS = (
    *(
        "",
        " ",
        "NA",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "1,5",
        "1.5",
        "-0",
        "0x1F",
        "12.3 %",
        "$5",
        "1'000",
        "true",
        "None",
    ),
    *('"', '""', '"a\nb"', "'", "=1+1", "\x00", "\x1b[31m", "é", "日本", "\u202e", "\ufeff", "2020-01-01", "9" * 400),
    *("a,b", "a;b", "\t", "1_000"),
)


def frame(rng: random.Random, rows: int = 40) -> polars.DataFrame:
    """A table with a column of each kind, or of some kinds."""
    draw = np.random.default_rng(rng.randrange(2**32))
    table = polars.DataFrame(
        {
            "a": draw.normal(size=rows),
            "b": draw.integers(0, 3, size=rows),
            "c": [f"g{k}" for k in draw.integers(0, 4, size=rows)],
            "d": draw.random(rows) < 0.5,
            "e": [None if k == 3 else float(k) for k in draw.integers(0, 9, size=rows)],
        }
    )
    return table.select(rng.sample(table.columns, rng.randint(1, 5)))


def text(rng: random.Random) -> str:
    """A text table, some of whose cells, lines and separators are none."""
    separator = rng.choice([",", ",", ";", "\t", "|"])
    width, rows = rng.randint(1, 6), rng.randint(0, 60)
    lines = [separator.join(rng.choice(["x", "y", "", "a", '"q"', "n\u0301", *CELLS]) for _ in range(width))]
    for _ in range(rows):
        cells = [rng.choice(CELLS) if rng.random() < 0.1 else f"{rng.gauss(0, 1):.3f}" for _ in range(width)]
        lines.append(separator.join(cells[: rng.randint(0, width)] if rng.random() < 0.03 else cells))
        if rng.random() < 0.03:
            lines.append(rng.choice(["", "   ", separator * rng.randint(0, 9)]))
    return rng.choice(["\n", "\n", "\r\n", "\r"]).join(lines) + rng.choice(["", "\n", "\n\n\n"])


def as_text(rng: random.Random) -> bytes:
    content = text(rng).encode("utf-8", errors="surrogatepass")
    return mutated(content, rng) if content and rng.random() < 0.5 else content


def as_utf16(rng: random.Random) -> bytes:
    content = text(rng).encode(rng.choice(["utf-16", "utf-32"]), errors="replace")
    return mutated(content, rng) if rng.random() < 0.5 else content


def as_gzip(rng: random.Random) -> bytes:
    content = gzip.compress(text(rng).encode("utf-8", errors="replace"))
    return mutated(content, rng) if rng.random() < 0.7 else content


def as_parquet(rng: random.Random) -> bytes:
    file = io.BytesIO()
    frame(rng).write_parquet(file, compression=rng.choice(["zstd", "snappy", "uncompressed", "gzip"]))
    return damaged(file.getvalue(), rng)


def as_arrow(rng: random.Random) -> bytes:
    file = io.BytesIO()
    frame(rng).write_ipc(file, compression=rng.choice(["zstd", "lz4", "uncompressed"]))
    return damaged(file.getvalue(), rng)


FORMATS: dict[str, Callable[[random.Random], bytes]] = {
    "t.csv": as_text,
    "t.tsv": as_text,
    "t.txt": as_text,
    "u.csv": as_utf16,
    "g.csv.gz": as_gzip,
    "t.parquet": as_parquet,
    "t.arrow": as_arrow,
}


def _fuzz(name: str, seed: int, count: int, folder: Path) -> Counts:
    """All files of one format, in a process of their own: a reader that crashes takes it along."""
    counts: Counts = Counts()
    for k in range(count):
        rng = random.Random(f"{seed}/{name}/{k}")
        path = folder / name
        path.write_bytes(FORMATS[name](rng))
        for read in (_audited, _tested):
            try:
                read(path)
                counts["read"] += 1
            except AnypagError as error:
                counts["refused"] += 1
                assert 0 < len(str(error)) < LONGEST_MESSAGE, f"round {k}: a message of {len(str(error))} characters"
            except BaseException as error:
                raise AssertionError(f"round {k} of {name}: {type(error).__name__}: {error}"[:500]) from error
    return counts


def _audited(path: Path) -> None:
    audit(as_table(path))


def _tested(path: Path) -> None:
    FisherZ(path, singular="keep", missing="drop")


def attack(seed: int, count: int, folder: Path) -> Counts:
    """So many files of each format."""
    counts: Counts = Counts()
    for name in FORMATS:
        found = answered(_fuzz, name, seed, count, folder, method="spawn")
        counts.update({f"{name} {what}": number for what, number in found.items()})
        assert sum(found.values()) == 2 * count
    return counts
