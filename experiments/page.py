"""docs/paper.md and its figures, from the result files: every number on the page is read from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from anypag.files import write_whole
from experiments import figures_oracle, figures_samples, oracle, order, readings, samples, stats
from experiments.claims import PAPER_FEWER_MISSING, PAPER_RATIOS, Claim, error_claims, oracle_claims, samples_claims
from experiments.results import KEY, RESULTS, path_of, read
from experiments.settings import EXPERIMENTS, Columns, Settings
from experiments.variants import VARIANTS

Frames = Mapping[str, pl.DataFrame]

ERRORS_AT = (100, 1000)
"""The rows for which errors are listed; the figure has all."""
SHOWN = ("fci", "icd-paper", "icd-first", "icd")
NEXT = "Where to go next: [how it works](algorithm.md), [accuracy on data](accuracy.md), [performance](performance.md)."


def write(settings: Mapping[str, Settings], docs: Path, results: Path = RESULTS) -> Path:
    """Draw the figures into docs/paper/, with the table of readings, and write docs/paper.md.

    Args:
        settings: of every experiment, for the scale the results come from.
        docs: the folder of the page.
        results: the folder of the result files.
    """
    frames = load_frames(settings, results)
    figures_oracle.draw(frames["oracle"], docs / "paper")
    figures_samples.draw(frames["samples"], frames["large"], docs / "paper")
    (docs / "paper").mkdir(parents=True, exist_ok=True)
    readings_frame(settings["readings"], frames["readings"]).write_csv(docs / "paper" / "readings.csv")
    pairs_frame(frames["readings"]).write_csv(docs / "paper" / "pairs.csv")
    path = docs / "paper.md"
    write_whole(path, text(settings, frames).encode())
    return path


def load_frames(settings: Mapping[str, Settings], results: Path) -> Frames:
    """The rows of every experiment, as far as it has been run: DAG k counts once it has been run in every way."""
    return {name: _whole_dags(settings[name], results) for name in EXPERIMENTS}


def _whole_dags(settings: Settings, results: Path) -> pl.DataFrame:
    schema = oracle.SCHEMA if settings.experiment == "oracle" else samples.SCHEMA
    frame = read(path_of(settings.scale, settings.experiment, results), schema)
    wanted = pl.DataFrame(
        [
            (task.nodes, task.rows, task.seed, variant, settings.number(task))
            for task in settings.tasks()
            for variant in task.variants
        ],
        schema=["nodes", "rows", "seed", "variant", "dag"],
        orient="row",
    )
    missing = wanted.join(frame, on=KEY, how="anti")["dag"].unique()
    whole = wanted.filter(~pl.col("dag").is_in(missing.implode()))
    if whole.is_empty():
        raise SystemExit(
            f"The experiment {settings.experiment!r} has no DAG yet that was run in every way; "
            f"run python -m experiments --scale {settings.scale} first."
        )
    return frame.join(whole.drop("dag"), on=KEY, how="semi").sort(KEY)


def text(settings: Mapping[str, Settings], frames: Frames) -> str:
    """The page."""
    orders = order.both_orders(frames["samples"], frames["order"])
    claims = [
        *oracle_claims(frames["oracle"]),
        *samples_claims(frames["samples"], orders),
        *error_claims(frames["samples"]),
        *error_claims(frames["large"]),
    ]
    parts = [
        _head(settings, frames),
        _claims_table(claims),
        _oracle_part(settings["oracle"], frames["oracle"]),
        _samples_part(frames["samples"]),
        _errors_part(frames["samples"], frames["large"]),
        _order_part(orders),
        _readings_part(settings["readings"], frames["readings"]),
        NEXT,
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _dags(frame: pl.DataFrame) -> int:
    """How many DAGs were run for each size of graph and sample."""
    return frame["seed"].n_unique() // frame["rows"].n_unique()


def _head(settings: Mapping[str, Settings], frames: Frames) -> str:
    rows = [
        (
            name,
            ", ".join(map(str, one.nodes)),
            ", ".join("oracle" if ell == 0 else str(ell) for ell in one.rows),
            f"{_dags(frames[name]):,} of {one.dags:,}",
            f"{one.cap:,}",
        )
        for name, one in settings.items()
    ]
    return f"""
# The paper, reproduced

Every experiment of Rohekar et al., *A Single Iterative Step for Anytime Causal Discovery* (2020), run again. `make
paper` writes this page from `experiments/results/`. Scale:
**{settings["oracle"].scale}**.

| name | what it is |
| --- | --- |
| `icd-paper` | Algorithm 1 of the paper to the letter |
| `icd` | [ours](algorithm.md); on data it tests all sets of an edge and takes the largest p-value |
| `icd-first` | `icd` with `sepset="first"`: it stops at the first separating set, as the paper does |
| `fci` | ours: stable, all subsets of the Possible-D-Sep of each node |

Tests are distinct ones; on data Fisher's z with α = {settings["samples"].alpha}. DAGs are the paper's:
{settings["oracle"].expected_neighbours:g} neighbours expected, connected, weights ±Uniform(0.5, 2), half of the
parentless nodes with two or more children latent. A run that reaches *cap* tests counts at the cap: means with capped
runs are lower bounds. Seeds are {settings["oracle"].first_seed} + 10,000 ℓ + k, k from 0 on.

{_table(("experiment", "nodes", "ℓ (rows)", "DAGs each: run of wanted", "cap"), rows)}
"""


def _claims_table(claims: Iterable[Claim]) -> str:
    rows, last_why = [], ""
    for claim in claims:
        is_same = all(finding.is_same for finding in claim.findings.values())
        why = "" if is_same else "as above" if claim.why == last_why else claim.why
        last_why = last_why if is_same else claim.why
        rows.append((claim.where, claim.says, claim.shown, why))
    return f"""
## What the paper says, and what we get

Numbers are the same if they differ by less than 10 %, or if the paper's lies in the 95 % interval of ours (bootstrap).
The outcome of `icd-first` is that of `icd-paper`, where it is not named.

{_table(("figure", "the paper says", "we get", "why, where different"), rows)}
"""


def _oracle_part(settings: Settings, frame: pl.DataFrame) -> str:
    means = stats.growth(frame)
    rows = [
        (
            str(n),
            *(_with_caps(means.filter(nodes=n, variant=name)) for name in settings.variants),
            *(_times(frame, n, name) for name in settings.variants),
        )
        for n in settings.nodes
    ]
    head = ("nodes", *(f"tests, {name}" for name in settings.variants), *(f"ms, {name}" for name in settings.variants))
    wrong = frame.filter((pl.col("right") == 0) & (pl.col("capped") == 0))
    return f"""
## Figures 1–3: a perfect oracle

![Figure 1](paper/fig1.png)

*Figure 1.* (a) mean number of tests, (b) every DAG, (c) mean ratio of run times.

{_table(head, rows)}

Means over {_dags(frame)} DAGs, median ms. Capped, of {len(frame)} runs: {_capped_list(frame)}. Of the others
{len(wrong)} ended with a graph that is not the true PAG.

![Figure 2](paper/fig2.png)

*Figure 2.* Mean number of tests for each size of the condition set, without DAGs with a capped run.

![Figure 3](paper/fig3.png)

*Figure 3.* Tests of FCI divided by tests of ICD, one bar for each DAG and size in which ICD asked any.
"""


def _samples_part(frame: pl.DataFrame) -> str:
    return f"""
## Figures 4 and 5: data

![Figure 4](paper/fig4.png)

*Figure 4.* Distribution F of the number of tests, with F(t′) = 0.9.

![Figure 5](paper/fig5.png)

*Figure 5.* By number of rows ℓ: (a) Kolmogorov–Smirnov statistic of the numbers of tests, (b) its p-value, (c) mean
number of tests, (d) errors of FCI / errors of ICD. Capped: {_capped_list(frame)}.
"""


def _errors_part(small: pl.DataFrame, large: pl.DataFrame) -> str:
    together = pl.concat([small, large])
    means = stats.mean_errors(together).filter(pl.col("rows").is_in(ERRORS_AT))
    rows = [
        (str(nodes), str(ell), *(_kinds_of_errors(part.filter(variant=name)) for name in SHOWN), f"{part['dags'][0]:,}")
        for (nodes, ell), part in means.group_by("nodes", "rows", maintain_order=True)
    ]
    return f"""
## Structural errors

![Structural errors](paper/errors.png)

Mean extra edges/missing edges/wrong marks, over the DAGs on which no variant was capped.

{_table(("nodes", "ℓ", *SHOWN, "DAGs"), rows)}

Capped: {_capped_list(together)}.
"""


def _kinds_of_errors(row: pl.DataFrame) -> str:
    return "/".join(f"{row[kind].item():.2f}" for kind in ("extra", "missing", "marks"))


def _order_part(orders: pl.DataFrame) -> str:
    rows = [
        (
            str(ell),
            *(_totals_in_both(part.filter(variant=name)) for name in SHOWN if name != "icd-first"),
            *(_error_ratio(orders, name, ell, "shuffled") for name in ("icd-paper", "icd")),
        )
        for (ell,), part in order.mean_errors(orders).group_by("rows", maintain_order=True)
    ]
    head = ("ℓ", "fci", "icd-paper", "icd", "FCI / icd-paper, shuffled", "FCI / icd, shuffled")
    same = ", ".join(f"`{name}` {same:,}" for name, (same, _) in order.unmoved(orders).items())
    dags = max(dags for _, dags in order.unmoved(orders).values())
    return f"""
## The order of the columns

Simulated columns come causes first. FCI and `icd-paper` try condition sets in the order of the columns; `icd` and
`icd-first` go by how strongly variables depend on the pair. Of {dags:,} DAGs, these numbers have the same
tests and errors in both orders: {same}. All errors with columns as drawn/shuffled, on the DAGs of `samples`;
then FCI's divided by the others' (95 % interval).

{_table(head, rows)}
"""


def _totals_in_both(row: pl.DataFrame) -> str:
    return "/".join(f"{row[f'total_{columns}'].item():.2f}" for columns in order.ORDERS)


def _error_ratio(orders: pl.DataFrame, variant: str, rows: int, columns: Columns) -> str:
    ratio = order.error_ratio(orders, variant, rows, columns)
    return f"{ratio.value:.2f} ({ratio.low:.2f}–{ratio.high:.2f})"


def _readings_part(settings: Settings, frame: pl.DataFrame) -> str:
    ranked = readings.pairs(frame)
    as_close = readings.as_close_as_the_closest(frame, ranked)
    nearly = [pair for pair in as_close if abs(pair.fewer_missing - PAPER_FEWER_MISSING[15]) < 0.03]
    said = [pair for pair in ranked if pair.errors_as_said]
    own = next(pair for pair in ranked if (pair.fci, pair.icd) == ("fci", "icd"))
    return f"""
## What the paper leaves open

The paper does not say which FCI it compares with, nor whether candidate sets must hold the whole path to each member
(Lemma 1). Each reading was tried on {_dags(frame)} DAGs of {settings.nodes[0]} nodes for each ℓ.
[readings.csv](paper/readings.csv) says what each one is, its tests and its errors (means over 100 ≤ ℓ ≤ 1000);
[pairs.csv](paper/pairs.csv) how close each FCI with each ICD comes to the ratios of Figure 4 (distance: mean
|ln(ours / the paper's)|), and what the text says of errors.

- Closest: {_listed(ranked[:3])}. As far as this number of DAGs can tell,
  {len(as_close) - 1} more pairs are as close, with FCI as
  {_names(pair.fci for pair in as_close)}; of these, with up to 10 ± 3 % fewer missing edges: {_listed(nearly)}.
- The library's own: {_listed([own])}.
- All that the text says of errors holds for {_listed(said)}.
- Both at once: {_listed([pair for pair in as_close if pair.errors_as_said])}.
"""


def pairs_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """A row for each FCI with each ICD: ratios of t′, distance from the paper's, and errors beside each other."""
    rows = []
    for pair in readings.pairs(frame):
        ratios = {f"ℓ = {ell}": round(pair.ratios[ell], 2) for ell in PAPER_RATIOS}
        errors = {
            "fewer missing": round(pair.fewer_missing, 2),
            "more extra": round(pair.more_extra, 1),
            "more marks": round(pair.more_marks, 1),
            "least ratio of errors": round(pair.least_error_ratio, 2),
        }
        rows.append({"FCI": pair.fci, "ICD": pair.icd, **ratios, "distance": round(pair.distance, 2), **errors})
    return pl.DataFrame(rows)


def readings_frame(settings: Settings, frame: pl.DataFrame) -> pl.DataFrame:
    """A row for each reading: what it is, t′ by number of rows, tests with an oracle, mean errors."""
    rows = []
    for row in readings.errors_of(frame).iter_rows(named=True):
        name = row["variant"]
        of_rows = {f"t′, ℓ = {ell}": round(stats.t_prime(stats.counts(frame, name, ell))) for ell in PAPER_RATIOS}
        errors = {f"mean {kind}": round(row[kind], 2) for kind in ("extra", "missing", "marks")}
        about = {"reading": name, "what it is": VARIANTS[name].about}
        rows.append({**about, **of_rows, "tests, oracle": round(row["oracle_tests"]), **errors})
    places = {name: k for k, name in enumerate(settings.variants)}
    return pl.DataFrame(sorted(rows, key=lambda row: places[str(row["reading"])]))


def _listed(pairs: Iterable[readings.Pair]) -> str:
    words = [f"`{pair.fci}` with `{pair.icd}` ({pair.distance:.2f})" for pair in pairs]
    return "; ".join(words) if words else "none"


def _names(names: Iterable[str]) -> str:
    return " or ".join(f"`{name}`" for name in dict.fromkeys(names))


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = tuple(head)
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _with_caps(row: pl.DataFrame) -> str:
    capped = row["capped"].item()
    return f"≥ {row['total'].item():,.0f} ({capped} capped)" if capped else f"{row['total'].item():,.0f}"


def _times(frame: pl.DataFrame, nodes: int, variant: str) -> str:
    seconds = frame.filter(nodes=nodes, variant=variant)["seconds"].to_numpy()
    return f"{1000 * np.median(seconds):,.0f}"


def _capped_list(frame: pl.DataFrame) -> str:
    capped = (
        frame.filter(pl.col("capped") == 1).group_by("nodes", "rows", "variant").len().sort("nodes", "rows", "variant")
    )
    words = [
        f"{count} of {variant} at {nodes} nodes" + (f", ℓ = {rows}" if rows else "")
        for nodes, rows, variant, count in capped.iter_rows()
    ]
    return "; ".join(words) if words else "none"
