"""What the first use costs: CPU seconds in a new process with an empty cache, and of each function that it compiles.

python benchmarks/first_use.py [gaussian] [discrete] [mixed] [--sizes 8 35 100] [--functions] [--signatures]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from itertools import product

CODE = """
import time, sys
from collections import Counter
start = time.process_time()
import numpy as np
import warnings
warnings.simplefilter("ignore")
import anypag as ap
from numba.core import event

loaded = time.process_time()
spent, open_since = Counter(), []


class Timing(event.Listener):
    def on_start(self, what):
        open_since.append([time.process_time(), 0.0])

    def on_end(self, what):
        began, inner = open_since.pop()
        whole = time.process_time() - began
        if open_since:
            open_since[-1][1] += whole
        function = what.data["dispatcher"].py_func
        name = f"{function.__module__.rsplit('.', 1)[1]}.{function.__name__}"
        spent[name, str(what.data["args"])] += whole - inner


rng = np.random.default_rng(0)
n, kind = int(sys.argv[1]), sys.argv[2]
hidden, weights = rng.normal(size=(500, n // 3 + 1)), rng.normal(size=(n // 3 + 1, n))
values = hidden @ (weights * (rng.random(weights.shape) < min(1.0, 6 / n))) + rng.normal(size=(500, n))
is_discrete = [kind == "discrete" or (kind == "mixed" and i % 2 == 1) for i in range(n)]
kinds = {f"x{i}": "discrete" if is_discrete[i] else "continuous" for i in range(n)}
table = {f"x{i}": np.digitize(values[:, i], [-1, 1]) if is_discrete[i] else values[:, i] for i in range(n)}
began = time.process_time()
with event.install_listener("numba:compile", Timing()):
    result = ap.learn(table, kinds=kinds)
ended = time.process_time()
if "--functions" in sys.argv:
    for (name, arguments), seconds in spent.most_common():
        print(f"{seconds:8.2f}  {name}{arguments if '--signatures' in sys.argv else ''}")
again = time.process_time()
ap.learn(table, kinds=kinds)
print(
    f"{n} {kind}: import {loaded - start:.2f} s, first learn {ended - began:.2f} s, of it {sum(spent.values()):.2f} s "
    f"compiling {len(spent)} functions; second learn {time.process_time() - again:.3f} s"
)
"""


def main() -> None:
    """Measure each kind of table in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", help="gaussian, discrete, mixed")
    parser.add_argument("--sizes", nargs="+", default=["8"], help="numbers of variables")
    parser.add_argument("--functions", action="store_true", help="list what is compiled, with its seconds")
    parser.add_argument("--signatures", action="store_true", help="with the types it was compiled for")
    options = parser.parse_args()
    flags = ["--functions"] * options.functions + ["--signatures"] * options.signatures
    for size, kind in product(options.sizes, options.kinds or ["gaussian"]):
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            subprocess.run([sys.executable, "-c", CODE, size, kind, *flags], env=environment, check=True)


if __name__ == "__main__":
    main()
