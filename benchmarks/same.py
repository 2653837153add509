"""The same searches on two commits: where only the shape of the code changed, nothing that they find may differ.

python benchmarks/same.py > new.txt; the same in a `git worktree` of the other commit; then `diff old.txt new.txt`.
Only public names are used, so that the file runs on any commit.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator

import anypag as ap

METHODS = ("icd", "icd-paper", "fci", "anytime-fci", "rfci")


def samples(count: int) -> Iterator[tuple[str, object]]:
    """Random systems, continuous and discrete in turn, 8 to 22 variables."""
    for seed in range(count):
        system = ap.simulate.random_system(8 + seed % 15, 2.0 + seed % 3, n_selection=seed % 2, seed=seed)
        rows = (150, 600, 2000)[seed % 3]
        if seed % 4 == 3:
            yield f"{seed} discrete", system.discrete(rows, levels=2 + seed % 2, seed=seed)
        else:
            yield f"{seed} gaussian", system.linear_gaussian(rows, seed=seed)


def described(result: ap.Result) -> str:
    """All that a search found, in a short text: counts to read, and a hash of everything."""
    facts = (
        [(item.r, item.info.tests, item.info.n_edges, str(item.pag)) for item in result.history],
        sorted(result.sepsets.items()),
        [tuple(map(str, reason)) for reason in (*result.marks, *result.conflicts)],
    )
    digest = hashlib.blake2b(repr(facts).encode(), digest_size=8).hexdigest()
    return f"{len(result.pag.edges())} edges {result.n_tests} tests {len(result.conflicts)} conflicts {digest}"


def main() -> None:
    """One line a search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=300)
    count = parser.parse_args().searches
    for k, (name, sample) in enumerate(samples(count)):
        method = METHODS[k % 5] if k % 2 else "icd"
        max_r = 3 if "fci" in method else None
        print(name, method, described(ap.learn(sample, method=method, alpha=0.01 + 0.04 * (k % 2), max_r=max_r)))


if __name__ == "__main__":
    main()
