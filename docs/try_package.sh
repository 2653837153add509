#!/bin/sh
# The wheel in a bare environment, with the README and the tutorial typed there; the sdist unpacked, with its own tests.
set -eu
python=${1:-python3}
here=$(pwd)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"$python" -m venv "$room/bare"
"$room/bare/bin/python" -m pip install --quiet --disable-pip-version-check "$(ls "$here"/dist/*.whl)[plot]" pytest
mkdir "$room/readme" && cd "$room/readme"
tar -xzf "$here"/dist/*.tar.gz --strip-components=1
rm -rf src # the wheel is tried, not this
PATH="$room/bare/bin:$PATH" "$room/bare/bin/python" -m pytest -q -p no:cacheprovider -o addopts= -o filterwarnings=default tests/test_readme.py
"$room/bare/bin/python" -W ignore docs/type_tutorial.py
mkdir "$room/sdist" && cd "$room/sdist"
tar -xzf "$here"/dist/*.tar.gz --strip-components=1
"$python" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
PATH="$room/sdist/.venv/bin:$PATH" .venv/bin/python -m pytest -q ${SDIST_TESTS:-}
