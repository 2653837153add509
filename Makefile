# Each target sets up what it needs in .venv; a second run installs nothing.
.PHONY: demo test test-all test-interpreted test-lowest test-pythons lint certify bench paper docs package clean
.DELETE_ON_ERROR:

PYTHON ?= python3
SCALE ?= full
BIN := .venv/bin
KERNEL_TESTS := $(addprefix tests/,graphs/test_mag.py graphs/test_orientation.py graphs/test_separation.py search/test_pairs.py \
	search/by_tests/test_pools_and_candidates.py search/by_tests/test_naive_icd.py ci/test_discrete.py ci/test_gaussian.py)
QUICK_TESTS := $(addprefix tests/,data plot explain ci/test_protocol.py ci/test_adapters.py cli/test_cli_data.py cli/test_cli_graphs.py \
	cli/test_cli_learn.py graphs/test_formats.py run/test_estimators.py run/test_saved.py search/test_random_systems.py test_readme.py)
# The command that starts this version of Python, where there is one.
python = $(shell for p in python$(1) $(HOME)/.pyenv/versions/$(1).*/bin/python; do $$p -c '' 2>/dev/null && echo $$p && break; done)
# numba's cache does not notice an edit in a kernel that another kernel file relies on: one cache per state of them all.
export NUMBA_CACHE_DIR := $(CURDIR)/.cache/numba/$(shell cat src/anypag/_kernels/*.py | cksum | cut -d' ' -f1)

demo: .venv/installed
	@echo "Making demo/health.csv, a study of 1,000 people in which the quality of the air was never measured."
	@echo "It is a sample where tests alone give another graph than scores; mostly both give the same."
	@$(BIN)/python examples/health.py demo/health.csv 1000 3
	@echo "$$ anypag learn demo/health.csv --out demo/pag.json --out demo/pag.svg --report demo/report.html"
	@$(BIN)/anypag learn demo/health.csv --out demo/pag.json --out demo/pag.svg --report demo/report.html
	@echo "$$ anypag explain demo/pag.json cough asthma"
	@$(BIN)/anypag explain demo/pag.json cough asthma

test: .venv/installed lint
	$(BIN)/python -m pytest

test-all: .venv/installed lint test-interpreted test-lowest test-pythons
	$(BIN)/python -m pytest -m ''
	cd tests && ../$(BIN)/python -m attack

# Kernels as plain Python, against their twins: an index beyond the end of an array is an error there. Hashes overflow on purpose.
test-interpreted: .venv/installed
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -W 'ignore:overflow encountered in scalar multiply:RuntimeWarning' $(KERNEL_TESTS)

# The lowest versions that pyproject.toml declares. Old versions may call what newer ones of others deprecate.
test-lowest: .venv-lowest/installed
	NUMBA_CACHE_DIR=.venv-lowest/numba .venv-lowest/bin/python -m pytest -W ignore::DeprecationWarning $(QUICK_TESTS)

test-pythons: test-python3.12 test-python3.13

test-python%:
	@if [ -z "$(call python,$*)" ]; then echo "Python $* was not found: its tests are skipped."; \
	else $(MAKE) .venv-$*/installed && .venv-$*/bin/python -m pytest $(QUICK_TESTS); fi

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

certify: .venv/installed
	$(BIN)/python -m certify --nodes 3
	$(BIN)/python -m certify --nodes 4
	$(BIN)/python -m certify --nodes 5
	$(BIN)/python tests/effects/certificate.py 4
	$(BIN)/python tests/effects/certificate.py 5 60
	$(BIN)/python -m certify --nodes 4 --knowledge
	$(BIN)/python -m certify --nodes 5 --knowledge
	$(BIN)/python -m certify --nodes 4 --contexts
	$(BIN)/python -m certify --nodes 5 --contexts
	$(BIN)/python -m certify --series

# What is timed is compiled at the first call.
bench: export ANYPAG_PATIENCE := 0
bench: .venv/installed
	$(BIN)/python benchmarks/separation.py
	$(BIN)/python benchmarks/oracle.py
	$(BIN)/python benchmarks/ci_tests.py
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/effects.py

paper: .venv/installed
	$(BIN)/python -m experiments --scale $(SCALE)

# The site, in docs/_build/html: every example run, every link within it checked, a warning is an error. No network is used.
docs: .venv-docs/installed
	PATH="$(CURDIR)/.venv-docs/bin:$$PATH" .venv-docs/bin/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	.venv-docs/bin/python docs/check_links.py docs/_build/html
	@echo "The site is in docs/_build/html/index.html"

# What a release is made of, looked at by the tools reviewers use, and tried as its users will.
package: .venv-package/installed
	rm -rf dist
	.venv-package/bin/python -m build --quiet
	.venv-package/bin/python -m twine check --strict dist/*
	.venv-package/bin/check-wheel-contents dist/*.whl
	.venv-package/bin/pyroma --min 8 dist/*.tar.gz
	sh docs/try_package.sh $(PYTHON) $(call python,3.12) $(call python,3.13)

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

.venv-docs/installed: pyproject.toml
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

.venv-package/installed:
	$(PYTHON) -m venv .venv-package
	.venv-package/bin/python -m pip install --quiet --disable-pip-version-check build twine check-wheel-contents pyroma
	touch $@

.venv-%/installed: pyproject.toml
	$(call python,$*) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

.venv-lowest/installed: pyproject.toml
	$(or $(call python,3.11),$(error The lowest versions need Python 3.11)) -m venv .venv-lowest
	grep -oE '[a-z][a-z0-9-]*>=[0-9.]+' pyproject.toml | sed 's/>=/==/' > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check -c .venv-lowest/constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf .venv .venv-* .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis demo docs/_build dist
