"""Run the experiments that have no results yet, then draw the figures and write the page (`python -m experiments`)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from experiments import oracle, page, samples
from experiments.results import RESULTS, path_of
from experiments.settings import EXPERIMENTS, SCALES, Settings, load

DOCS = Path(__file__).parents[1] / "docs"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description="The paper, reproduced.")
    parser.add_argument("--scale", choices=SCALES, default="full")
    parser.add_argument("--jobs", type=int, default=2, help="processes for runs that are not timed")
    parser.add_argument("--only", nargs="+", choices=EXPERIMENTS, default=EXPERIMENTS, help="run only these")
    parser.add_argument("--draw-only", action="store_true", help="run nothing; figures and page from what there is")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of the result files")
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder of paper.md and its figures")
    options = parser.parse_args(arguments)
    settings = load(options.scale)
    if not options.draw_only:
        for name in options.only:
            print(described(settings[name]), flush=True)
            collect_rows(settings[name], path_of(options.scale, name, options.results), options.jobs)
    print(f"Written: {page.write(settings, options.docs, options.results)}")


def described(settings: Settings) -> str:
    """One line: what is run, with which seeds."""
    seeds = ", ".join(f"{seeds.start}–{seeds.stop - 1}" for seeds in map(settings.seeds, settings.rows))
    nodes = ", ".join(map(str, settings.nodes))
    return f"{settings.experiment}: {settings.dags} DAGs each of {nodes} nodes, seeds {seeds}"


def collect_rows(settings: Settings, path: Path, jobs: int) -> None:
    """Run what is not in the file of this experiment yet."""
    if settings.experiment == "oracle":
        oracle.collect_rows(settings, path, show=True)
    else:
        samples.collect_rows(settings, path, jobs=jobs, show=True)


if __name__ == "__main__":
    main()
