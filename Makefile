# Each target sets up what it needs in .venv; a second run installs nothing.
.PHONY: demo test test-all certify bench lint clean
.DELETE_ON_ERROR:

PYTHON ?= python3
BIN := .venv/bin
# numba's cache does not notice an edit in a kernel that another file's kernel calls: one cache per state of them.
export NUMBA_CACHE_DIR := $(CURDIR)/.cache/numba/$(shell cat src/anypag/_kernels/*.py | cksum | cut -d' ' -f1)

demo: .venv/installed
	$(BIN)/python examples/demo.py

test: .venv/installed lint
	$(BIN)/python -m pytest

test-all: .venv/installed lint
	$(BIN)/python -m pytest -m ''

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

certify: .venv/installed
	$(BIN)/python benchmarks/certify.py

bench: .venv/installed
	$(BIN)/python benchmarks/separation.py

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

clean:
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
