"""The same searches on two commits: where only the shape of the code changed, nothing that they find may differ.

python benchmarks/same.py --large 100 1000 > new.txt; the same in a `git worktree` of the other commit; then
`diff old.txt new.txt`.
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
    kept = [(edge.a, edge.b, result.kept_p(edge.a, edge.b).hex()) for edge in result.pag.edges()]
    apart = [(pair, why.given, why.p.hex(), why.r, why.n) for pair, why in sorted(result.sepsets.items())]
    facts = (
        [(item.r, item.info.tests, item.info.n_edges, item.info.n_open, str(item.pag)) for item in result.history],
        [tuple(map(str, reason)) for reason in (*result.marks, *result.conflicts)],
        kept,
        apart,
    )
    digest = hashlib.blake2b(repr(facts).encode(), digest_size=8).hexdigest()
    return f"{len(result.pag.edges())} edges {result.n_tests} tests {len(result.conflicts)} conflicts {digest}"


def main() -> None:
    """One line a search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=300)
    parser.add_argument("--large", type=int, nargs="*", default=[], help="systems with so many nodes as well")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    for n in options.large:
        large = ap.simulate.random_system(n, 2.0, seed=n).linear_gaussian(1000, seed=n)
        print(n, "nodes", described(ap.learn(large, threads=options.threads)))
    for k, (name, sample) in enumerate(samples(options.searches)):
        method = METHODS[k % 5] if k % 2 else "icd"
        max_r = 3 if "fci" in method else None
        threads = 1 if method == "icd-paper" else options.threads
        print(
            name,
            method,
            described(ap.learn(sample, method=method, alpha=0.01 + 0.04 * (k % 2), max_r=max_r, threads=threads)),
        )


if __name__ == "__main__":
    main()
