"""The paper, reproduced: every experiment of Rohekar et al. (2020), with the paper's numbers beside ours.

    python -m experiments                  # everything, at the paper's scale
    python -m experiments --scale small    # the same in about five minutes

- `settings.toml`: how many graphs, which sizes, which seeds, for each scale.
- `oracle`: Figures 1–3, from runs with a perfect oracle. `samples`: Figures 4 and 5 and the structural errors, from
  runs on data. `readings`: what the paper leaves open (which FCI, which candidate sets), tried one against the other.
  `order`: the data of `samples` with the columns shuffled, which simulations put in causal order.
- `variants` names the algorithms, `steps` holds those that only serve a reading of the paper, `runs` runs one of them.
- `results`: rows in CSV files, one file for each experiment and scale; what is in a file is not run again.
- `figures_*`, `claims`, `page`: from those files to pictures and to `docs/paper.md`. Nothing is run there.

All of it imports anypag; anypag imports nothing of it.
"""
