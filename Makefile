# Each target sets up what it needs in .venv; a second run installs nothing.
.PHONY: demo test test-all lint certify bench paper docs clean
.DELETE_ON_ERROR:

PYTHON ?= python3
SCALE ?= full
BIN := .venv/bin
# numba's cache does not notice an edit in a kernel that another kernel file relies on: one cache per state of them all.
export NUMBA_CACHE_DIR := $(CURDIR)/.cache/numba/$(shell cat src/anypag/_kernels/*.py | cksum | cut -d' ' -f1)

demo: .venv/installed
	@echo "Making demo/health.csv, a study of 2,000 people in which the quality of the air was never measured."
	@$(BIN)/python examples/health.py demo/health.csv
	@echo "$$ anypag learn demo/health.csv --out demo/pag.json --out demo/pag.svg --report demo/report.html"
	@$(BIN)/anypag learn demo/health.csv --out demo/pag.json --out demo/pag.svg --report demo/report.html
	@echo "$$ anypag explain demo/pag.json cough asthma"
	@$(BIN)/anypag explain demo/pag.json cough asthma

test: .venv/installed lint
	$(BIN)/python -m pytest

test-all: .venv/installed lint
	$(BIN)/python -m pytest -m ''

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

certify: .venv/installed
	$(BIN)/anypag certify --nodes 3
	$(BIN)/anypag certify --nodes 4
	$(BIN)/anypag certify --nodes 5

bench: .venv/installed
	$(BIN)/python benchmarks/separation.py
	$(BIN)/python benchmarks/oracle.py
	$(BIN)/python benchmarks/ci_tests.py
	$(BIN)/python benchmarks/speed.py

paper: .venv/installed
	$(BIN)/python -m experiments --scale $(SCALE)

docs: .venv/installed
	$(BIN)/python docs/generate_cli.py

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

clean:
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis demo
